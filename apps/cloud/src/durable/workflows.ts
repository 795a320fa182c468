// What Temporal may start, by name. The bundle is made of this file.
export {
  keepHouse,
  reconcileCounts,
  reconcileDebts,
  reconcileLeases,
  reconcilePower,
} from './reconcile.ts'
export { vmQueue } from './vm-queue.ts'
