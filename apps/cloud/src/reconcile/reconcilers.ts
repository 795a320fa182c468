import type { StepWorld } from '../world.ts'
import { reconcileCounts } from './counts.ts'
import { reconcileDebts } from './debts.ts'
import { keepHouse } from './house.ts'
import { reconcileLeases } from './leases.ts'
import { reconcilePower } from './power.ts'

/** One pass of each, as Temporal calls them: no input, the world is read again. */
export interface Reconcilers {
  readonly reconcilePower: () => Promise<number>
  readonly reconcileDebts: () => Promise<number>
  readonly reconcileCounts: () => Promise<number>
  readonly reconcileLeases: () => Promise<number>
  readonly keepHouse: () => Promise<number>
}

export function reconcilers(
  world: Pick<StepWorld, 'db' | 'ring' | 'hosts'>,
  running: () => { readonly signal: AbortSignal },
): Reconcilers {
  return {
    async reconcilePower() {
      const asked = await reconcilePower(world.db)
      for (const vm of asked) world.ring(vm)
      return asked.length
    },
    async reconcileDebts() {
      const paid = await reconcileDebts(world.db, world.hosts, running().signal)
      for (const vm of paid) world.ring(vm)
      return paid.length
    },
    reconcileCounts: async () => (await reconcileCounts(world.db)).length,
    async reconcileLeases() {
      const asked = await reconcileLeases(world.db)
      for (const vm of asked) world.ring(vm)
      return asked.length
    },
    keepHouse: () => keepHouse(world.db),
  }
}
