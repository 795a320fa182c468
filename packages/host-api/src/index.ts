export { admitPeers, type Admit, type Epochs } from './admit.ts'
export { ArmedScreens } from './armed-screens.ts'
export {
  MachineLink,
  readText,
  sharing,
  type HostRequest,
  type Expected,
  type MachineIdentity,
} from './ask.ts'
export { askToRenew, type Renewed } from './ask-to-renew.ts'
export { connectHost, type ConnectedHost, type HostAddress } from './client.ts'
export { isDistrust } from './distrust.ts'
export { isReached, requireFrom, ruleOf } from './goal-rule.ts'
export { VmSpec, goals, type Goal, type GoalKind, type GoalName } from './goals.ts'
export type { Hello, HostApi, HostRecord, StopCause, SessionLine } from './host-api.ts'
export {
  epochUri,
  machineUri,
  whoIsPeer,
  whyNotPeer,
  type MachineName,
  type MachineRole,
  type Peer,
  type PeerRules,
} from './machine-name.ts'
export {
  openServerIdentity,
  type ClientOfCells,
  type IdentityContents,
  type IdentityContext,
} from './open-identity.ts'
export { hostServer, type ServeOptions } from './serve.ts'
export { PING_MS, HostSessions, SILENCE_MS, type SessionTimes, type HostView } from './sessions.ts'
export { reviveFault } from './wire.ts'
