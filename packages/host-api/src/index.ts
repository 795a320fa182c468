export { admitPeers, type Admit, type Epochs } from './admit.ts'
export { ArmedScreens } from './armed-screens.ts'
export { MachineLink, readText, sharing, type Asked, type Expected, type Identity } from './ask.ts'
export { askToRenew, type Renewed } from './ask-to-renew.ts'
export { connectHost, type ConnectedHost, type HostAddress } from './client.ts'
export { Deed, goals, type Goal, type GoalKind, type GoalName } from './goals.ts'
export type { Hello, HostApi, HostRecord, Stopped, Told } from './host-api.ts'
export {
  epochUri,
  machineRoles,
  machineUri,
  readMachineUri,
  whoIsPeer,
  whyNotPeer,
  type MachineName,
  type MachineRole,
  type Peer,
  type PeerRules,
} from './machine-name.ts'
export { hostServer, serveHost, type ServeOptions } from './serve.ts'
export { PING_MS, Sessions, SILENCE_MS, type SessionTimes, type Shown } from './sessions.ts'
export { faultAnswer, hostFaults, reviveFault } from './wire.ts'
