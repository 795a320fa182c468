import type { Reason } from '../store/claim-task.ts'
import type { Activities, Plan } from '../worker/activities.ts'

export type Verbs = Pick<Activities, 'runStep' | 'undoStep' | 'turnBack' | 'endTask'>

/**
 * One task from its claim to its end, forward or back. Remembers nothing: a run that is thrown away
 * is begun again by the next claim. Knows nothing of Temporal either: the queue gives it verbs that
 * are written down, the step matrix verbs that fail, the model verbs that come late. Answers whether
 * the VM's queue should be looked at again: if not, it is empty and nobody holds it.
 */
export async function carryOut(
  { steps, direction, ...claim }: Plan,
  verbs: (step?: Plan['steps'][number]) => Verbs,
  reasonOf: (error: unknown) => Reason | 'stale',
): Promise<boolean> {
  let { number } = claim
  try {
    if (direction === 'forward') {
      try {
        for (const step of steps) await verbs(step).runStep(claim, step.name)
        return await verbs().endTask(claim)
      } catch (error) {
        const reason = reasonOf(error)
        if (reason === 'stale') return true
        number = await verbs().turnBack(claim, reason)
      }
    }
    // All steps, whether or not they are known to have run: the one that failed may have done its work.
    for (const step of steps.toReversed()) {
      if (step.undo) await verbs(step).undoStep({ ...claim, number }, step.name)
    }
    return await verbs().endTask({ ...claim, number })
  } catch (error) {
    if (reasonOf(error) !== 'stale') throw error
    return true
  }
}
