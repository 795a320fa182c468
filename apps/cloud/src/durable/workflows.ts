// The workflows that Temporal starts by name. The workflow bundle is built from this file.
export {
  foldUsage,
  deleteExpired,
  reconcileCounts,
  reconcileEdgeGroups,
  reconcilePendingUndo,
  reconcileLeases,
  reconcilePeople,
  reconcilePower,
} from './reconcile.ts'
export { vmQueue } from './vm-queue.ts'
