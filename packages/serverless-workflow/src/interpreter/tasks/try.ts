import { type Catch, type Retry, type TryTask, durationMs } from '../dsl.ts'
import { inTime } from '../in-time.ts'
import { matches, raise, Raised } from '../problem.ts'
import { addStepNote, whileWaiting } from '../progress.ts'
import {
  type TaskRunner,
  evaluateOne,
  type TaskContext,
  isTrue,
  type ListResumePoint,
  type TaskResult,
} from '../scope.ts'
import type { Json, Problem } from '../verbs.ts'

interface TryState {
  /** The number of retries so far. */
  again?: number
  began?: number
  /** The deadline of the current attempt. */
  deadline?: number
  /** The time of the next attempt. */
  until?: number
  caught?: Problem
  inner?: ListResumePoint
}

export const doTry: TaskRunner<TryTask, TryState> = async (task, here, kindState) => {
  const { running, place, scope, input } = here
  kindState.began ??= running.runtime.now()
  for (;;) {
    if (kindState.caught !== undefined && kindState.until === undefined)
      return handle(task.catch, here, kindState)
    if (kindState.until !== undefined) {
      const { until } = kindState
      await whileWaiting(running, 'waiting', scope.stop, async (stop) =>
        running.runtime.sleepUntil(until, stop),
      )
      delete kindState.until
      delete kindState.caught
      delete kindState.deadline
    }
    const inner = (kindState.inner ??= {})
    try {
      return await runAttempt(task, here, kindState, async (inside) =>
        running.runList(task.try, `${place}/try`, input, inside, inner),
      )
    } catch (error) {
      if (!(error instanceof Raised) || error.final) throw error
      if (!(await isCaught(task.catch, here, error.problem))) throw error
      delete kindState.inner
      kindState.caught = error.problem
      await planAgain(task.catch, here, kindState)
      if (kindState.until === undefined && task.catch.retry !== undefined && !task.catch.do)
        throw error
    }
  }
}

/** An attempt may have its own timeout. */
async function runAttempt(
  task: TryTask,
  here: TaskContext,
  kindState: TryState,
  work: (scope: TaskContext['scope']) => Promise<TaskResult>,
): Promise<TaskResult> {
  const { running, scope, place } = here
  const duration = retryOf(task.catch, here)?.limit?.attempt?.duration
  const ms = duration === undefined ? undefined : durationMs(duration)
  if (ms === undefined) return work(scope)
  const at = (kindState.deadline ??= running.runtime.now() + ms)
  return inTime({ runtime: running.runtime, stop: scope.stop, place, at }, async (stop) =>
    work({ ...scope, stop }),
  )
}

async function isCaught(
  by: Catch,
  here: TaskContext & { input: Json },
  error: Problem,
): Promise<boolean> {
  if (!matches(by.errors?.with, error)) return false
  return conditionsHold(by, seeing(here, by, error), here.input)
}

/** `when` must be true and `exceptWhen` must be false, if given. */
async function conditionsHold(
  { when, exceptWhen }: { readonly when?: string; readonly exceptWhen?: string },
  here: TaskContext,
  on: Json,
): Promise<boolean> {
  if (when !== undefined && !isTrue(await evaluateOne(here, on, when))) return false
  return exceptWhen === undefined || !isTrue(await evaluateOne(here, on, exceptWhen))
}

const seeing = <H extends TaskContext>(here: H, { as = 'error' }: Catch, error: Problem): H => ({
  ...here,
  scope: {
    ...here.scope,
    variables: { ...here.scope.variables, [as]: { ...error } },
  },
})

async function handle(
  by: Catch,
  here: TaskContext & { input: Json },
  kindState: TryState,
): Promise<TaskResult> {
  if (by.do === undefined || kindState.caught === undefined) return { output: here.input }
  const { scope, running, place, input } = seeing(here, by, kindState.caught)
  return running.runList(by.do, `${place}/catch/do`, input, scope, (kindState.inner ??= {}))
}

function retryOf(by: Catch, { running, place }: TaskContext): Retry | undefined {
  if (typeof by.retry !== 'string') return by.retry
  const found = running.use.retries?.[by.retry]
  if (found === undefined)
    throw raise('configuration', place, `no retry ${by.retry} in use.retries`)
  return found
}

/** Decides whether and when to retry. */
async function planAgain(
  by: Catch,
  here: TaskContext & { input: Json },
  kindState: TryState,
): Promise<void> {
  const retry = retryOf(by, here)
  if (retry === undefined || kindState.caught === undefined) return
  const { running } = here
  if (!(await conditionsHold(retry, seeing(here, by, kindState.caught), here.input))) return
  const again = (kindState.again ?? 0) + 1
  const { limit, jitter } = retry
  if (again > (limit?.attempt?.count ?? Infinity)) return
  const least = ms(jitter?.from)
  const spread = jitter === undefined ? 0 : running.runtime.chance() * (ms(jitter.to) - least)
  const now = running.runtime.now()
  const until = now + delayOf(retry, again) + least + Math.max(0, spread)
  if (limit?.duration !== undefined && until > (kindState.began ?? now) + ms(limit.duration)) return
  kindState.again = again
  kindState.until = Math.ceil(until)
  await addStepNote(running, here, 'again', kindState.caught.detail ?? kindState.caught.title)
}

/** Caps the delay between attempts. */
const LONGEST_MS = 24 * 3_600_000
const ms = (duration: Parameters<typeof durationMs>[0] | undefined): number =>
  duration === undefined ? 0 : (durationMs(duration) ?? 0)

export function delayOf({ delay, backoff }: Retry, again: number): number {
  const step = ms(delay)
  const times =
    backoff === undefined || 'constant' in backoff
      ? 1
      : 'linear' in backoff
        ? again
        : 2 ** (again - 1)
  return Math.min(step * times, LONGEST_MS)
}
