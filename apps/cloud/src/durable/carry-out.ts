import type { ClaimReason } from '../tasks/claim-task.ts'
import type { Activities, Plan } from '../worker/activities.ts'

export type TaskActivities = Pick<Activities, 'runStep' | 'undoStep' | 'turnBack' | 'endTask'>

/**
 * Carries out one task from its claim to its end, forward or back. It keeps no state: after a discarded run, the next
 * claim starts the task from scratch. It does not depend on Temporal either: the queue passes verbs that are
 * persisted, the step matrix passes verbs that fail, the model passes verbs that are late. Returns whether the
 * VM's queue should be checked again; false means that the queue is empty and has no holder.
 */
export async function carryOut(
  { steps, direction, ...claim }: Plan,
  verbs: (step?: Plan['steps'][number]) => TaskActivities,
  reasonOf: (error: unknown) => ClaimReason | 'stale',
): Promise<boolean> {
  let { fence: number } = claim
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
    // Undo all steps, whether or not they are known to have run: the one that failed may have taken effect.
    for (const step of steps.toReversed()) {
      if (step.undo) await verbs(step).undoStep({ ...claim, fence: number }, step.name)
    }
    return await verbs().endTask({ ...claim, fence: number })
  } catch (error) {
    if (reasonOf(error) !== 'stale') throw error
    return true
  }
}
