import type { Retention } from '../config.ts'
import type { WorkerContext } from '../context.ts'
import { foldUsage } from '../metering/fold-usage.ts'
import { reconcileCounts } from './counts.ts'
import { deleteExpired } from './delete-expired.ts'
import { reconcileEdgeGroups } from './edge-groups.ts'
import { reconcileLeases } from './leases.ts'
import { reconcilePendingUndo } from './pending-undo.ts'
import { reconcilePeople } from './people.ts'
import { reconcilePower } from './power.ts'

/** One pass of each reconciler, as Temporal calls them: no input, the state is read again. */
export interface Reconcilers {
  readonly reconcilePower: () => Promise<number>
  readonly reconcilePendingUndo: () => Promise<number>
  readonly reconcileCounts: () => Promise<number>
  readonly reconcileEdgeGroups: () => Promise<number>
  readonly reconcileLeases: () => Promise<number>
  readonly foldUsage: () => Promise<number>
  readonly reconcilePeople: () => Promise<number>
  readonly deleteExpired: () => Promise<number>
}

export function reconcilers(
  context: Pick<WorkerContext, 'db' | 'wake' | 'hosts' | 'seal'>,
  running: () => { readonly signal: AbortSignal },
  retention?: Retention,
): Reconcilers {
  return {
    async reconcilePower() {
      const requested = await reconcilePower(context.db)
      for (const vm of requested) context.wake(vm)
      return requested.length
    },
    async reconcilePendingUndo() {
      const undone = await reconcilePendingUndo(context.db, context.hosts, running().signal)
      for (const vm of undone) context.wake(vm)
      return undone.length
    },
    reconcileCounts: async () => (await reconcileCounts(context.db)).length,
    reconcileEdgeGroups: () => reconcileEdgeGroups(context.db),
    async reconcileLeases() {
      const requested = await reconcileLeases(context.db)
      for (const vm of requested) context.wake(vm)
      return requested.length
    },
    foldUsage: () => foldUsage(context.db),
    reconcilePeople: () => reconcilePeople(context.db, context.seal, running().signal),
    deleteExpired: () => deleteExpired(context.db, retention),
  }
}
