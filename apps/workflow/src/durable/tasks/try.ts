import type { Catch, Retry, TryTask } from '../dsl.ts'
import { durationMs } from '../duration.ts'
import { inTime } from '../in-time.ts'
import { matches, raise, Raised } from '../problem.ts'
import { note, resting } from '../progress.ts'
import { type Do, evaluateOne, type Here, isTrue, type ListMark, type Made } from '../scope.ts'
import type { Json, Problem } from '../verbs.ts'

interface TryMark {
  /** How often it was tried again. */
  again?: number
  began?: number
  /** When the attempt that is under way is too late. */
  deadline?: number
  /** When it is tried again. */
  until?: number
  caught?: Problem
  inner?: ListMark
}

export const doTry: Do<TryTask, TryMark> = async (task, here, own) => {
  const { running, place, scope, input } = here
  own.began ??= running.world.now()
  for (;;) {
    if (own.caught !== undefined && own.until === undefined) return handle(task.catch, here, own)
    if (own.until !== undefined) {
      const { until } = own
      await resting(running, 'waiting', scope.stop, async (stop) =>
        running.world.sleepUntil(until, stop),
      )
      delete own.until
      delete own.caught
      delete own.deadline
    }
    const inner = (own.inner ??= {})
    try {
      return await attempt(task, here, own, async (inside) =>
        running.runList(task.try, `${place}/try`, input, inside, inner),
      )
    } catch (error) {
      if (!(error instanceof Raised) || error.final) throw error
      if (!(await isCaught(task.catch, here, error.problem))) throw error
      delete own.inner
      own.caught = error.problem
      await planAgain(task.catch, here, own)
      if (own.until === undefined && task.catch.retry !== undefined && !task.catch.do) throw error
    }
  }
}

/** An attempt may have a time of its own. */
async function attempt(
  task: TryTask,
  here: Here,
  own: TryMark,
  work: (scope: Here['scope']) => Promise<Made>,
): Promise<Made> {
  const { running, scope, place } = here
  const duration = retryOf(task.catch, here)?.limit?.attempt?.duration
  const ms = duration === undefined ? undefined : durationMs(duration)
  if (ms === undefined) return work(scope)
  const at = (own.deadline ??= running.world.now() + ms)
  return inTime({ world: running.world, stop: scope.stop, place, at }, async (stop) =>
    work({ ...scope, stop }),
  )
}

async function isCaught(by: Catch, here: Here & { input: Json }, error: Problem): Promise<boolean> {
  if (!matches(by.errors?.with, error)) return false
  return meets(by, seeing(here, by, error), here.input)
}

/** `when` must be met and `exceptWhen` must not, where there is one. */
async function meets(
  { when, exceptWhen }: { readonly when?: string; readonly exceptWhen?: string },
  here: Here,
  on: Json,
): Promise<boolean> {
  if (when !== undefined && !isTrue(await evaluateOne(here, on, when))) return false
  return exceptWhen === undefined || !isTrue(await evaluateOne(here, on, exceptWhen))
}

const seeing = <H extends Here>(here: H, { as = 'error' }: Catch, error: Problem): H => ({
  ...here,
  scope: {
    ...here.scope,
    variables: { ...here.scope.variables, [as]: { ...error } },
  },
})

async function handle(by: Catch, here: Here & { input: Json }, own: TryMark): Promise<Made> {
  if (by.do === undefined || own.caught === undefined) return { output: here.input }
  const { scope, running, place, input } = seeing(here, by, own.caught)
  return running.runList(by.do, `${place}/catch/do`, input, scope, (own.inner ??= {}))
}

function retryOf(by: Catch, { running, place }: Here): Retry | undefined {
  if (typeof by.retry !== 'string') return by.retry
  const found = running.use.retries?.[by.retry]
  if (found === undefined) throw raise('configuration', place, `there is no retry ${by.retry}`)
  return found
}

/** Decides whether and when it is tried again. */
async function planAgain(by: Catch, here: Here & { input: Json }, own: TryMark): Promise<void> {
  const retry = retryOf(by, here)
  if (retry === undefined || own.caught === undefined) return
  const { running } = here
  if (!(await meets(retry, seeing(here, by, own.caught), here.input))) return
  const again = (own.again ?? 0) + 1
  const { limit, jitter } = retry
  if (again > (limit?.attempt?.count ?? Infinity)) return
  const least = ms(jitter?.from)
  const spread = jitter === undefined ? 0 : running.world.chance() * (ms(jitter.to) - least)
  const now = running.world.now()
  const until = now + delayOf(retry, again) + least + Math.max(0, spread)
  if (limit?.duration !== undefined && until > (own.began ?? now) + ms(limit.duration)) return
  own.again = again
  own.until = Math.ceil(until)
  await note(running, here, 'again', own.caught.detail ?? own.caught.title)
}

/** Nobody means to wait longer than this, however often something is tried. */
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
