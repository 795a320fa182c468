// Replayed by Temporal: no I/O, and nothing of ours but what is in this directory and the definition's types. The clock and chance
// are Temporal's own here, the same at every replay.
import {
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  condition,
  continueAsNew,
  defineSignal,
  executeChild,
  isCancellation,
  ParentClosePolicy,
  proxyActivities,
  proxyLocalActivities,
  setHandler,
  sleep,
  startChild,
  TimeoutFailure,
  uuid4,
  workflowInfo,
} from '@temporalio/workflow'

import { type Ended, interpret } from './interpret.ts'
import { problem, Raised, usedUp } from './problem.ts'
import { limits, newState, type RunState, type World } from './scope.ts'
import { type RunInput, workflowIdOf } from './states.ts'
import { Stop, Stopped } from './stop.ts'
import { PROBLEM, type Json, type Problem, type RunEvent, type Verbs } from './verbs.ts'

export const runEvent = defineSignal<[RunEvent]>('event')

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
/**
 * What is short and changes nothing outside is a local activity: one event of a history instead of three, its input is not written
 * down at all, and the worker that asks does it itself.
 */
const quick = proxyLocalActivities<Verbs>({ startToCloseTimeout: '60s', retry })
// A dead worker's call rests for the heartbeat time-out; the worker beats every 2 s. Whoever cancels waits until it is known what
// became of the call.
const called = {
  heartbeatTimeout: '8s',
  retry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const
const functions = proxyActivities<Verbs>({ ...called, scheduleToCloseTimeout: '24h' })
const outside = proxyActivities<Verbs>({ ...called, scheduleToCloseTimeout: '30m' })

/** A shorter history is replayed sooner when its worker died; Temporal itself would let it grow to 50,000 events. */
const EVENTS = { should: 2_000, must: 20_000 }

/** What goes on under a new history is one value there, which Temporal bounds at 2 MiB. */
const MOST_CARRIED = 1_500_000

/** One run of one version of a definition, from its start or from where the last history left it. */
export async function runDefinition(run: RunInput, carried?: RunState): Promise<Json> {
  const stop = new Stop()
  CancellationScope.current().cancelRequested.catch(() => stop.stop('canceled'))
  const state = carried ?? newState(Date.now())
  setHandler(runEvent, (event) => receive(state, event))
  const ended = await CancellationScope.nonCancellable(async () => carryOut(run, state, stop))
  switch (ended.ended) {
    case 'leaving':
      return continueAsNew<typeof runDefinition>(run, state)
    case 'completed':
      return ended.output
    case 'canceled':
      throw new CancelledFailure('the run was canceled')
    case 'failed':
      break
  }
  throw ApplicationFailure.create({
    ...{ type: PROBLEM, nonRetryable: true, details: [ended.error] },
    message: ended.error.detail ?? ended.error.title ?? ended.error.type,
  })
}

/** A schedule's turn: the run that it asks for is one like any other, and this lasts as long as that, so that the next turn can tell. */
export async function runScheduled(schedule: string): Promise<void> {
  const { workflowId } = workflowInfo()
  const run = await quick.beginScheduled(schedule, workflowId)
  if (run === undefined) return
  try {
    await executeChild(runDefinition, {
      ...{ workflowId: workflowIdOf(run.execution), args: [run], workflowTaskTimeout: '5s' },
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    })
  } catch (error) {
    // How it failed is written down with the run.
    if (!(error instanceof ChildWorkflowFailure)) throw error
  }
}

async function carryOut(run: RunInput, state: RunState, stop: Stop): Promise<Ended> {
  let ended: Ended
  try {
    const loaded = await quick.loadRun(run)
    ended = await interpret(run, loaded, state, { world: worldOf(state), stop })
    if (ended.ended === 'leaving' && JSON.stringify(state).length > MOST_CARRIED) {
      throw usedUp('runtime', '/', `a run may keep ${MOST_CARRIED} bytes of data at once`)
    }
  } catch (thrown) {
    const error = problemIn(thrown) ?? problem('runtime', 'something went wrong inside')
    await quick.record({ execution: run.execution, state: 'failed', steps: [], asks: [], error })
    ended = { ended: 'failed', error }
  }
  if (ended.ended !== 'leaving') await endGrant(run.grant)
  return ended
}

/** It is tried until the cloud is there to hear it; what the cloud then refuses changes nothing for a run that has ended. */
async function endGrant(grant: string): Promise<void> {
  try {
    await quick.endGrant(grant)
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error
  }
}

function receive(state: RunState, event: RunEvent): void {
  // Whoever sends so many that nobody waits for has lost the rest.
  if (state.inbox.length >= limits.events) return
  state.inbox.push({ number: ++state.events, event })
}

function worldOf(state: RunState): World {
  return {
    evaluate: async (ask) => quick.evaluate(ask),
    validate: async (schema, value) => quick.validate(schema, value),
    record: async (progress) => quick.record(progress),
    callFunction: async (call, stop) => within(stop, async () => functions.callFunction(call)),
    callHttp: async (call, stop) => within(stop, async () => outside.callHttp(call)),
    async runChild(child, waits, stop) {
      const run = await within(stop, async () => quick.beginChild(child))
      const options = {
        ...{ workflowId: workflowIdOf(run.execution), workflowTaskTimeout: '5s' as const },
        args: [run] as [RunInput],
      }
      if (waits) {
        const cancellationType = ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED
        return within(stop, async () =>
          executeChild(runDefinition, {
            ...{ ...options, cancellationType },
            parentClosePolicy: ParentClosePolicy.REQUEST_CANCEL,
          }),
        )
      }
      const parentClosePolicy = ParentClosePolicy.ABANDON
      await startChild(runDefinition, { ...options, parentClosePolicy })
      return null
    },
    async sleepUntil(time, stop) {
      stop.check()
      const ms = time - Date.now()
      if (ms > 0) await within(stop, async () => sleep(ms))
    },
    async eventAfter(number, until, stop) {
      const came = () => state.inbox.some((each) => each.number > number)
      await within(stop, async () => condition(came, Math.max(1, until - Date.now())))
    },
    now: () => Date.now(),
    chance: () => Number.parseInt(uuid4().slice(0, 8), 16) / 2 ** 32,
    id: () => uuid4(),
    isFull() {
      const { historyLength, continueAsNewSuggested } = workflowInfo()
      if (historyLength > EVENTS.must) return 'must'
      return historyLength > EVENTS.should || continueAsNewSuggested ? 'should' : 'no'
    },
  }
}

/** Work of Temporal's that can be stopped. Whoever stops it is told by our own word. */
async function within<T>(stop: Stop, work: () => Promise<T>): Promise<T> {
  stop.check()
  const scope = new CancellationScope()
  const leave = stop.onStop(() => scope.cancel())
  try {
    return await scope.run(work)
  } catch (error) {
    if (isCancellation(error) && stop.word !== undefined) throw new Stopped(stop.word)
    const found = problemIn(error)
    throw found === undefined ? error : new Raised(found)
  } finally {
    leave()
  }
}

/** What an activity or an inner run failed with, in the DSL's words. Which task it is an error of, is said by whoever asked. */
function problemIn(error: unknown): Problem | undefined {
  if (error instanceof Raised) return error.problem
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure
  const cause = wrapped ? error.cause : error
  if (cause instanceof TimeoutFailure) return problem('timeout', 'the call did not end in time')
  if (cause instanceof CancelledFailure) return problem('runtime', 'the inner run was canceled')
  if (!(cause instanceof ApplicationFailure)) return undefined
  const [said] = (cause.details ?? []) as [Problem?]
  if (cause.type !== PROBLEM || said === undefined) return problem('runtime', cause.message)
  const { type, status, title, detail } = said
  return {
    ...{ type, status },
    ...(title !== undefined && { title }),
    ...(detail !== undefined && { detail }),
  }
}
