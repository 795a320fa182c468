// Replayed by Temporal: no clock, no chance, no I/O, and nothing of ours but carry-out.ts and types.
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

/**
 * Carries out the tasks of one VM, one after the other, in the order they were asked for, and ends with
 * the last: to wait for a bell would cost a timer and a second turn of the engine for each operation.
 * A bell that comes too late for the end is not lost: Temporal refuses the end and runs this turn again.
 */
export async function vmQueue(vm: VmId): Promise<void> {
  let rung = false
  setHandler(bell, () => {
    rung = true
  })
  const holder = workflowInfo().runId
  let more = true
  while (more || rung) {
    rung = false
    const plan = await quick.claimTask(vm, holder)
    more = plan !== undefined && (await carryOut(plan, verbsFor, reasonOf))
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof vmQueue>(vm)
  }
}

const verbsFor = (step?: { readonly long: boolean }) => (step?.long ? slow : quick)

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
