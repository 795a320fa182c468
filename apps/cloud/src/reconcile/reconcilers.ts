import type { StepWorld } from '../world.ts'
import { keepHouse } from './house.ts'
import { reconcilePower } from './power.ts'

/** One pass of each, as Temporal calls them: no input, the world is read again. */
export interface Reconcilers {
  readonly reconcilePower: () => Promise<number>
  readonly keepHouse: () => Promise<number>
}

export function reconcilers(world: Pick<StepWorld, 'db' | 'ring'>): Reconcilers {
  return {
    async reconcilePower() {
      const asked = await reconcilePower(world.db)
      for (const vm of asked) world.ring(vm)
      return asked.length
    },
    keepHouse: () => keepHouse(world.db),
  }
}
