// Replayed by Temporal: no clock, no chance, no I/O, and nothing of ours but carry-out.ts and types.
import type { FaultKind } from '@skerry/fault'
import type { VmId } from '@skerry/vm'
import {
  ActivityFailure,
  ApplicationFailure,
  condition,
  continueAsNew,
  defineSignal,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  TimeoutFailure,
  workflowInfo,
} from '@temporalio/workflow'

import type { Reason } from '../store/claim-task.ts'
import type { Activities } from '../worker/activities.ts'
import { carryOut } from './carry-out.ts'

export const bell = defineSignal('bell')

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
const quick = proxyLocalActivities<Activities>({
  startToCloseTimeout: '30s',
  scheduleToCloseTimeout: '10m',
  retry,
})
// A dead worker's long step rests for the heartbeat time-out; the worker beats every 2 s.
const slow = proxyActivities<Activities>({
  scheduleToCloseTimeout: '6h',
  heartbeatTimeout: '8s',
  retry,
})

/** Carries out the tasks of one VM, one after the other, in the order they were asked for. */
export async function vmQueue(vm: VmId): Promise<void> {
  let rung = true
  setHandler(bell, () => {
    rung = true
  })
  const holder = workflowInfo().runId
  while (await condition(() => rung, '30s')) {
    rung = false
    for (
      let plan = await quick.claimTask(vm, holder);
      plan;
      plan = await quick.claimTask(vm, holder)
    ) {
      await carryOut(plan, (step) => (step?.long ? slow : quick), reasonOf)
      if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof vmQueue>(vm)
    }
  }
}

function reasonOf(error: unknown): Reason | 'stale' {
  const cause = error instanceof ActivityFailure ? error.cause : error
  if (cause instanceof TimeoutFailure) {
    return { kind: 'timed-out', message: 'the step did not end in time' }
  }
  if (!(cause instanceof ApplicationFailure)) throw error
  if (cause.type === 'stale') return 'stale'
  // A bug of ours: nobody can say what was done before it, so all of it is undone.
  const kind = cause.type === 'bug' ? 'interrupted' : (cause.type as FaultKind)
  return { kind, message: cause.message }
}
