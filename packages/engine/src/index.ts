export { readAddress, readLease, waitForAddress, type GuestAddress } from './guest/address.ts'
export { finishArrival, makeReady, prepareArrival } from './vm/arrive.ts'
export type { Arrival, Departure, Landing, MoveTarget, MoveQuestion } from './host/move-protocol.ts'
export { changeNics, joinNetwork } from './vm/join-network.ts'
export { cloneVm, type NewClone } from './vm/clone.ts'
export { configureVm, setNested, type Settings } from './vm/configure.ts'
export { createFromImage, type NewCloudVm } from './vm/create-from-image.ts'
export { createVm, type NewVm } from './vm/create.ts'
export type { Hypervisor } from './host/definition.ts'
export { deleteVm, removeVm } from './recover/delete.ts'
export {
  displaySocket,
  readAfterBoot,
  readSerialLog,
  takeScreenshot,
  type Picture,
} from './vm/display.ts'
export {
  addFolder,
  enableSharing,
  isSharing,
  listFolders,
  readFolder,
  removeFolder,
} from './share/folders.ts'
export { addForward, allForwards, listForwards, removeForward } from './network/forward.ts'
export type { Forward } from './host/record.ts'
export { execInGuest, pingGuest, type GuestCommand, type CommandOutcome } from './guest/guest.ts'
export type { EngineClock, Host, EngineIds, HostUplink, Log } from './host/host.ts'
export { openHost, type HostOptions } from './open-host.ts'
export {
  clearImages,
  dropImages,
  hasImage,
  storeImage,
  type IncomingImage,
  type StoreOptions,
} from './disk/image-cache.ts'
export { migrateVm, type MigrateOptions } from './vm/migrate.ts'
export { joinOverlay } from './network/overlay.ts'
export { onChange, vmIds } from './domain/on-change.ts'
export { Orders, type Work } from './orders/orders.ts'
export { cloudDirectory, defaultPaths, ordersDirectory, type Paths } from './host/paths.ts'
export { makeDirectory, PASSABLE_DIRECTORY } from './host/private-files.ts'
export { changePower, discardMemory, reachPower, readPower, type PowerOptions } from './vm/power.ts'
export { probeDefine, type ProbedHost } from './domain/probe-define.ts'
export type { Owner } from './host/owner.ts'
export type { Seed } from '@skerry/vm'
export {
  createSnapshot,
  listSnapshots,
  readSnapshot,
  removeSnapshot,
  revertSnapshot,
  type NewSnapshot,
} from './vm/snapshot.ts'
export { decideArrival } from './recover/settle-arrival.ts'
export { readStats, type Stats } from './guest/stats.ts'
export { readUsage, sampleUsage } from './guest/usage.ts'
export { stoppedByGuest } from './domain/stopped-by-guest.ts'
export {
  deleteTemplate,
  importTemplate,
  listTemplates,
  type ImportOptions,
} from './disk/template.ts'
export { listKnown, listVms, readVm } from './vm/vms.ts'
