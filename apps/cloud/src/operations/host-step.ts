import { Fault } from '@skerry/fault'
import type { Goal } from '@skerry/host-api'

import { recordSeen } from '../inventory/vms.ts'
import { isOpen } from '../tasks/claim-task.ts'
import type { StepContext, Step } from '../tasks/operation.ts'
import { deferUndo } from '../tasks/pending-undo.ts'

type GoalOf = Goal | ((at: StepContext) => Goal | Promise<Goal>)
const of = async (goal: GoalOf, at: StepContext): Promise<Goal> =>
  typeof goal === 'function' ? goal(at) : goal

/** A step that reaches one goal on the VM's host. Its undo is another goal, or the reason why there is none. */
export function hostStep(
  name: string,
  goal: GoalOf,
  undo: GoalOf | { readonly none: string },
  more: { readonly long?: true; before?(at: StepContext): Promise<void> } = {},
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
            // Undo runs for all steps: if the VM was never placed, no host has anything to undo.
            if (at.vm.host !== null) await reachOrOwe(at, await of(undo, at))
          },
  }
}

async function reach(at: StepContext, goal: Goal): Promise<void> {
  const { vm, order, context } = at
  const { session, seq, vm: seen } = await at.host().step(order, goal, at.signal, at.progress)
  if (seen && vm.host !== null)
    await recordSeen(context.db, vm.host, [{ id: vm.id, session, seq, vm: seen }])
}

/** An undo must not delay the end of its task: for an unreachable host it is stored, and executed when the host reconnects. */
async function reachOrOwe(at: StepContext, goal: Goal): Promise<void> {
  try {
    await reach(at, goal)
  } catch (error) {
    const { vm, context, order, task } = at
    if (!(error instanceof Fault) || error.kind !== 'unavailable' || vm.host === null) throw error
    if (await isOpen(context.db, vm.host)) throw error
    const { incarnation } = order
    await deferUndo(context.db, { host: vm.host, vm: vm.id, incarnation, goal, task: task.id })
  }
}
