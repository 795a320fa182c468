import {
  type RunEnd,
  interpret,
  problem,
  Raised,
  usedUp,
  RUN_LIMITS,
  newState,
  type RunState,
  type Runtime,
  type RunInput,
  Stop,
  RunStopped,
  type Json,
  type Problem,
  type RunEvent,
} from '@skerry/serverless-workflow/interpreter'
// Replayed by Temporal: no I/O, and imports only from this directory and the interpreter. Clock and randomness are Temporal's here,
// deterministic in every replay.
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

import { workflowIdOf, PROBLEM, type RunActivities } from './run-activities.ts'

export const runEvent = defineSignal<[RunEvent | undefined]>('event')

const retry = { initialInterval: '200ms', maximumInterval: '5s' } as const
/**
 * Short operations without external effects are local activities: one history event instead of three, no input in the history, and
 * the same worker executes them.
 */
const quick = proxyLocalActivities<RunActivities>({ startToCloseTimeout: '60s', retry })
// If a worker dies, its call is retried after the heartbeat timeout; a worker sends a heartbeat every 2 s. Cancellation waits
// until the outcome of the call is known.
const called = {
  heartbeatTimeout: '8s',
  retry,
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
} as const
const functions = proxyActivities<RunActivities>({ ...called, scheduleToCloseTimeout: '24h' })
const outside = proxyActivities<RunActivities>({ ...called, scheduleToCloseTimeout: '30m' })

/** A short history replays faster after a worker died; Temporal's own limit is 50,000 events. */
const EVENTS = { should: 2_000, must: 20_000 }

/** The state carried to a new history is one value, which Temporal limits to 2 MiB. */
const MOST_CARRIED = 1_500_000

/** One run of one version of a definition, from its start or from the state of the previous history. */
export async function runDefinition(run: RunInput | undefined, carried?: RunState): Promise<Json> {
  if (run === undefined) throw unsealed()
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
    type: PROBLEM,
    nonRetryable: true,
    details: [ended.error],
    message: ended.error.detail ?? ended.error.title ?? ended.error.type,
  })
}

/** One due time of a schedule: starts a normal run and waits for its end, so that Temporal can apply the overlap policy. */
export async function runScheduled(schedule: string | undefined): Promise<void> {
  if (schedule === undefined) throw unsealed()
  const { workflowId } = workflowInfo()
  const run = await quick.beginScheduled(schedule, workflowId)
  if (run === undefined) return
  try {
    await executeChild(runDefinition, {
      workflowId: workflowIdOf(run.execution),
      args: [run],
      workflowTaskTimeout: '5s',
      cancellationType: ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED,
    })
  } catch (error) {
    // The failure is recorded with the run.
    if (!(error instanceof ChildWorkflowFailure)) throw error
  }
}

async function carryOut(run: RunInput, state: RunState, stop: Stop): Promise<RunEnd> {
  let ended: RunEnd
  try {
    const loaded = await quick.loadRun(run)
    ended = await interpret(run, loaded, state, { runtime: contextOf(state), stop })
    if (ended.ended === 'leaving' && JSON.stringify(state).length > MOST_CARRIED) {
      throw usedUp(
        'runtime',
        '/',
        `the state of the run exceeds the maximum of ${MOST_CARRIED} bytes`,
      )
    }
  } catch (thrown) {
    const error = problemIn(thrown) ?? problem('runtime', 'internal error')
    await quick.record({ execution: run.execution, state: 'failed', steps: [], asks: [], error })
    ended = { ended: 'failed', error }
  }
  if (ended.ended !== 'leaving') await endGrant(run.grant)
  return ended
}

/** Retried until the cloud responds. If the cloud rejects it, nothing changes for a run that has ended. */
async function endGrant(grant: string): Promise<void> {
  try {
    await quick.endGrant(grant)
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error
  }
}

/** Values that were not sealed arrive as undefined: the sender has no key. */
const unsealed = (): ApplicationFailure =>
  ApplicationFailure.nonRetryable('the input of a run must be sealed', 'Unsealed')

function receive(state: RunState, event: RunEvent | undefined): void {
  if (event === undefined) return
  // Too many unread events: drop the rest.
  if (state.inbox.length >= RUN_LIMITS.events) return
  state.inbox.push({ number: ++state.events, event })
}

function contextOf(state: RunState): Runtime {
  return {
    evaluate: async (ask) => quick.evaluate(ask),
    validate: async (schema, value) => quick.validate(schema, value),
    record: async (progress) => quick.record(progress),
    callFunction: async (call, stop) =>
      runUntilStopped(stop, async () => functions.callFunction(call)),
    callHttp: async (call, stop) => runUntilStopped(stop, async () => outside.callHttp(call)),
    async runChild(child, waits, stop) {
      const run = await runUntilStopped(stop, async () => quick.beginChild(child))
      const options = {
        workflowId: workflowIdOf(run.execution),
        workflowTaskTimeout: '5s' as const,
        args: [run] as [RunInput | undefined],
      }
      if (waits) {
        const cancellationType = ChildWorkflowCancellationType.WAIT_CANCELLATION_COMPLETED
        return runUntilStopped(stop, async () =>
          executeChild(runDefinition, {
            ...options,
            cancellationType,
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
      if (ms > 0) await runUntilStopped(stop, async () => sleep(ms))
    },
    async eventAfter(number, until, stop) {
      const came = () => state.inbox.some((each) => each.number > number)
      await runUntilStopped(stop, async () => condition(came, Math.max(1, until - Date.now())))
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

/** Runs cancellable Temporal work. Throws `Stopped` with the reason if it is stopped. */
async function runUntilStopped<T>(stop: Stop, work: () => Promise<T>): Promise<T> {
  stop.check()
  const scope = new CancellationScope()
  const leave = stop.onStop(() => scope.cancel())
  try {
    return await scope.run(work)
  } catch (error) {
    if (isCancellation(error) && stop.word !== undefined) throw new RunStopped(stop.word)
    const found = problemIn(error)
    throw found === undefined ? error : new Raised(found)
  } finally {
    leave()
  }
}

/** The DSL error in a failure of an activity or child run. The caller adds the place of the task. */
function problemIn(error: unknown): Problem | undefined {
  if (error instanceof Raised) return error.problem
  const wrapped = error instanceof ActivityFailure || error instanceof ChildWorkflowFailure
  const cause = wrapped ? error.cause : error
  if (cause instanceof TimeoutFailure) return problem('timeout', 'the call timed out')
  if (cause instanceof CancelledFailure) return problem('runtime', 'the child run was canceled')
  if (!(cause instanceof ApplicationFailure)) return undefined
  const [reportedProblem] = (cause.details ?? []) as [Problem?]
  if (cause.type !== PROBLEM || reportedProblem === undefined)
    return problem('runtime', cause.message)
  const { type, status, title, detail } = reportedProblem
  return {
    type,
    status,
    ...(title !== undefined && { title }),
    ...(detail !== undefined && { detail }),
  }
}
