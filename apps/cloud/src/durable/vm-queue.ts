// Replayed by Temporal: no clock, no randomness, no I/O, and no imports of our own except carry-out.ts and types.
import type { FaultKind } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import {
  ActivityFailure,
  ApplicationFailure,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow'

import type { ClaimReason } from '../tasks/claim-task.ts'
import type { Activities } from '../worker/activities.ts'
import { LONG_STEP_SECONDS, QUICK_STEP_SECONDS } from '../worker/step-seconds.ts'
import { carryOut, type TaskActivities } from './carry-out.ts'

export const waker = defineSignal('wake-up')

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
const bounds = {
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: `${QUICK_STEP_SECONDS}s`,
} as const
const quick = proxyLocalActivities<Activities>({ ...bounds, retry })
// A local activity is retried only by the worker that runs this workflow task, and that worker may be cut off from the VM's host.
const here = proxyLocalActivities<Activities>({
  ...bounds,
  retry: { ...retry, maximumAttempts: 3 },
})
const anywhere = proxyActivities<Activities>({ ...bounds, retry })
// A long step of a dead worker is retried after the heartbeat timeout; workers send a heartbeat every 2 s.
const slow = proxyActivities<Activities>({
  scheduleToCloseTimeout: `${LONG_STEP_SECONDS}s`,
  heartbeatTimeout: '8s',
  retry,
})

/**
 * Carries out the tasks of one VM, one after the other, in the order of their requests, and completes after
 * the last: waiting for a wake-up would cost a timer and a second workflow task for each operation.
 * A wake-up that arrives during completion is not lost: Temporal rejects the completion and runs this workflow task again.
 */
export async function vmQueue(vm: VmId): Promise<void> {
  let wasWoken = false
  setHandler(waker, () => {
    wasWoken = true
  })
  const holder = workflowInfo().runId
  let more = true
  while (more || wasWoken) {
    wasWoken = false
    const plan = await quick.claimTask(vm, holder)
    more = plan !== undefined && (await carryOut(plan, verbsFor, reasonOf))
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof vmQueue>(vm)
  }
}

/** Quick steps run at this worker first, which costs the least; then at any worker, until one reaches the host. */
const steps: TaskActivities = {
  turnBack: (...given) => quick.turnBack(...given),
  endTask: (...given) => quick.endTask(...given),
  runStep: (claim, name) =>
    here.runStep(claim, name).catch((error: unknown) => {
      if (isFinal(error)) throw error
      return anywhere.runStep(claim, name)
    }),
  undoStep: (claim, name) =>
    here.undoStep(claim, name).catch((error: unknown) => {
      if (isFinal(error)) throw error
      return anywhere.undoStep(claim, name)
    }),
}

const verbsFor = (step?: { readonly long: boolean }) => (step?.long ? slow : steps)

/** Whether a retry, here or at another worker, cannot help. Activities mark each failure by the kind of its Fault. */
function isFinal(error: unknown): boolean {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) return false
  return !(cause instanceof ApplicationFailure) || cause.nonRetryable === true
}

function reasonOf(error: unknown): ClaimReason | 'stale' {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) {
    return { kind: 'timed-out', message: 'the step timed out' }
  }
  if (!(cause instanceof ApplicationFailure)) throw error
  if (cause.type === 'stale') return 'stale'
  // A bug in our code: what was done before it is unknown, so everything is undone.
  const kind = cause.type === 'bug' ? 'interrupted' : (cause.type as FaultKind)
  return { kind, message: cause.message }
}
