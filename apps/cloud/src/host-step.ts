import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'

import type { At, Step } from './operation.ts'
import { isOpen } from './store/claim-task.ts'
import { owe } from './store/debts.ts'
import { recordSeen } from './store/vms.ts'

type GoalOf = Goal | ((at: At) => Goal | Promise<Goal>)
const of = async (goal: GoalOf, at: At): Promise<Goal> =>
  typeof goal === 'function' ? goal(at) : goal

/** A step that is one goal at the VM's host; undone by another goal, or not at all and why. */
export function hostStep(
  name: string,
  goal: GoalOf,
  undo: GoalOf | { readonly none: string },
  more: { readonly long?: true; before?(at: At): Promise<void> } = {},
): Step {
  return {
    name,
    ...(more.long && { long: true }),
    async run(at) {
      await more.before?.(at)
      await reach(at, await of(goal, at))
    },
    undo:
      typeof undo === 'object' && 'none' in undo
        ? undo
        : async (at) => {
            // Undo goes over all steps: where the VM was never placed, its host has nothing to undo.
            if (at.vm.host !== null) await reachOrOwe(at, await of(undo, at))
          },
  }
}

async function reach(at: At, goal: Goal): Promise<void> {
  const { vm, order, world } = at
  const { session, seq, vm: seen } = await at.host().step(order, goal, at.signal, at.progress)
  if (seen && vm.host !== null)
    await recordSeen(world.db, vm.host, [{ id: vm.id, session, seq, vm: seen }])
}

/** An undo does not hold the end of its task: a host that is away will have to do it when it is back. */
async function reachOrOwe(at: At, goal: Goal): Promise<void> {
  try {
    await reach(at, goal)
  } catch (error) {
    const { vm, world, order, task } = at
    if (!(error instanceof Fault) || error.kind !== 'unavailable' || vm.host === null) throw error
    if (await isOpen(world.db, vm.host)) throw error
    const { incarnation } = order
    await owe(world.db, { host: vm.host, vm: vm.id, incarnation, goal, task: task.id })
  }
}
