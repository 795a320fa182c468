export { probeHypervisor } from './acceleration.ts'
export { readAddress, readLease, waitForAddress, type Address } from './address.ts'
export { abandonArrival, finishArrival, makeReady, prepareArrival } from './arrive.ts'
export { joinNetwork } from './join-network.ts'
export { cloneVm, type NewClone } from './clone.ts'
export { configureVm, setNested, type Settings } from './configure.ts'
export { createFromImage, type NewCloudVm } from './create-from-image.ts'
export { createVm, settingLimits, type NewVm } from './create.ts'
export type { Hypervisor } from './definition.ts'
export { deleteVm, removeVm } from './delete.ts'
export {
  displaySocket,
  readAfterBoot,
  readSerialLog,
  takeScreenshot,
  type Picture,
} from './display.ts'
export { addFolder, enableSharing, listFolders, readFolder, removeFolder } from './folders.ts'
export { addForward, allForwards, listForwards, removeForward, type Forward } from './forward.ts'
export { execInGuest, pingGuest, type Command, type Outcome } from './guest.ts'
export { openHost, type Clock, type Host, type HostOptions, type Ids, type Note } from './host.ts'
export {
  cachedImage,
  clearImages,
  dropImages,
  hasImage,
  storeImage,
  type IncomingImage,
  type StoreOptions,
} from './image-cache.ts'
export {
  migrateVm,
  type Departure,
  type Landing,
  type MigrateOptions,
  type Target,
} from './migrate.ts'
export { onChange, vmIds } from './on-change.ts'
export { Orders, type Work } from './orders.ts'
export { cloudDirectory, defaultPaths, ordersDirectory, type Paths } from './paths.ts'
export { changePower, discardMemory, reachPower, readPower, type PowerOptions } from './power.ts'
export { writeDurably, type Owner } from './record.ts'
export type { Seed } from '@skerry/vm'
export {
  createSnapshot,
  listSnapshots,
  readSnapshot,
  removeSnapshot,
  revertSnapshot,
  type NewSnapshot,
} from './snapshot.ts'
export { readStats, type Stats } from './stats.ts'
export { stoppedByGuest } from './stopped-by-guest.ts'
export { deleteTemplate, importTemplate, listTemplates, type ImportOptions } from './template.ts'
export { listKnown, listVms, readVm } from './vms.ts'
export { watchVms, type VmChange } from './watch.ts'
