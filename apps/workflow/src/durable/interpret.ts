// Interprets a definition. Knows nothing of Temporal: run.ts gives it a world that is written down, the tests one that is not.
import { placed, type Placed, sortTask, type TaskList, type Timeout } from '../definition/task.ts'
import { durationMs } from './duration.ts'
import { inTime } from './in-time.ts'
import { raise, Raised, usedUp } from './problem.ts'
import { note, tell } from './progress.ts'
import {
  evaluateOne,
  type Here,
  isTrue,
  type Limits,
  limits as ownLimits,
  type ListMark,
  type Made,
  type Outcome,
  type Running,
  type RunState,
  requireTime,
  type Scope,
  type TaskMark,
  transform,
  type World,
} from './scope.ts'
import type { RunInput } from './states.ts'
import { Stop, Stopped } from './stop.ts'
import { callFunction } from './tasks/call-function.ts'
import { callHttp } from './tasks/call-http.ts'
import { doFor } from './tasks/for.ts'
import { doFork } from './tasks/fork.ts'
import { doListen } from './tasks/listen.ts'
import { doRaise } from './tasks/raise.ts'
import { doRun } from './tasks/run.ts'
import { doSet } from './tasks/set.ts'
import { doSwitch } from './tasks/switch.ts'
import { doTry } from './tasks/try.ts'
import { doWait } from './tasks/wait.ts'
import type { Json, LoadedRun, Problem } from './verbs.ts'

/** How a run ended; or that it is to go on from its state under a new history. */
export type Ended =
  | { readonly ended: 'completed'; readonly output: Json }
  | { readonly ended: 'failed'; readonly error: Problem }
  | { readonly ended: 'canceled' }
  | { readonly ended: 'leaving' }

/** Runs a definition from where the state says, which it keeps up to date. `stop` asks it to end. */
export async function interpret(
  run: RunInput,
  loaded: LoadedRun,
  state: RunState,
  { world, stop, limits = ownLimits }: { world: World; stop: Stop; limits?: Limits },
): Promise<Ended> {
  const { document } = loaded
  const running: Running = {
    ...{ run, world, document, limits, state },
    rawInput: loaded.input,
    use: document.use ?? {},
    leave: new Stop(),
    live: { branches: 1, waiting: 0, listening: 0, calling: 0, told: 'initializing' },
    pending: { steps: [], asks: [], writing: undefined },
    runList: async (...all) => runList(running, ...all),
    runTask: async (...all) => runTask(running, ...all),
  }
  try {
    const output = await runWhole(running, stop)
    await tell(running, { state: 'completed', output })
    return { ended: 'completed', output }
  } catch (error) {
    if (error instanceof Stopped && error.word === 'leaving') {
      await tell(running)
      return { ended: 'leaving' }
    }
    if (error instanceof Stopped) {
      await tell(running, { state: 'canceled' })
      return { ended: 'canceled' }
    }
    if (!(error instanceof Raised)) throw error
    await tell(running, { state: 'failed', error: error.problem })
    return { ended: 'failed', error: error.problem }
  }
}

/** The workflow itself has an input, an output and a time, as a task has. */
async function runWhole(running: Running, stop: Stop): Promise<Json> {
  const { document, state, rawInput } = running
  const { input, output, timeout } = document
  const here: Here = {
    ...{ running, name: document.document.name, place: '/', task: { do: [] }, step: 0 },
    ...{ scope: { variables: {}, stop }, began: state.began, raw: rawInput },
  }
  if (state.mark.input === undefined) {
    await validate(here, input?.schema?.document, rawInput, 'the input')
    state.mark.input =
      input?.from === undefined ? rawInput : await transform(here, rawInput, input.from)
  }
  const first = state.mark.input
  const work = async (inner: Stop) =>
    runList(running, document.do, '/do', first, { ...here.scope, stop: inner }, state.mark)
  const ms = timeoutMs(running, timeout, '/timeout')
  const deadline = { world: running.world, stop, place: '/', at: state.began + (ms ?? 0) }
  const made = ms === undefined ? await work(stop) : await inTime(deadline, work)
  const result =
    output?.as === undefined ? made.output : await transform(here, made.output, output.as)
  await validate(here, output?.schema?.document, result, 'the output')
  return result
}

/** One task after the other, until the list is at its end or a directive leads out of it. */
async function runList(
  running: Running,
  list: TaskList,
  place: string,
  input: Json,
  scope: Scope,
  mark: ListMark,
): Promise<Made> {
  const tasks = placed(list, place)
  for (;;) {
    const { at = 0, data = input } = mark
    const task = tasks[at]
    if (task === undefined) return { output: data }
    mark.inner ??= {}
    const { output, next, over } = await runTask(running, task, data, scope, mark.inner)
    if (over || next === 'end') return { output, over: true }
    if (next === 'exit') return { output }
    const to = next === 'continue' ? at + 1 : tasks.findIndex(({ name }) => name === next)
    if (to < 0) throw raise('configuration', task.place, `there is no task ${next} beside it`)
    mark.at = to
    mark.data = output
    mark.inner = {}
  }
}

async function runTask(
  running: Running,
  { name, task, place }: Placed,
  raw: Json,
  scope: Scope,
  mark: TaskMark,
): Promise<Outcome> {
  if (mark.step === undefined) {
    leaveIfFull(running)
    scope.stop.check()
    mark.step = countStep(running, place)
    mark.began = running.world.now()
  }
  const here: Here = {
    ...{ running, name, place, task, scope, raw },
    ...{ step: mark.step, began: mark.began ?? 0 },
  }
  try {
    if (mark.input === undefined) {
      if (task.if !== undefined && !isTrue(await evaluateOne(here, raw, task.if))) {
        await note(running, here, 'skipped')
        return { output: raw, next: 'continue', over: false }
      }
      await note(running, here, 'began')
      await validate(here, task.input?.schema?.document, raw, 'the input')
      mark.input =
        task.input?.from === undefined ? raw : await transform(here, raw, task.input.from)
    }
    const made = await doInTime({ ...here, input: mark.input }, mark)
    if (made.over) return { output: made.output, next: 'end', over: true }
    const output = await finish({ ...here, input: mark.input, rawOutput: made.output })
    await note(running, here, 'ended')
    return { output, next: made.next ?? task.then ?? 'continue', over: false }
  } catch (error) {
    if (error instanceof Stopped && error.word !== 'leaving') await note(running, here, 'canceled')
    if (!(error instanceof Raised)) throw error
    await note(running, here, 'failed', error.message)
    // What comes from outside does not know which task it is an error of.
    throw error.problem.instance === undefined
      ? new Raised({ ...error.problem, instance: place }, error.final)
      : error
  }
}

/** Between two tasks nothing is half done, so this is where a run goes on under a new history. */
function leaveIfFull({ world, leave, live }: Running): void {
  const full = world.isFull()
  if (full === 'must' || (full === 'should' && live.calling === 0)) leave.stop('leaving')
  leave.check()
}

function countStep(running: Running, place: string): number {
  const { state, limits } = running
  requireTime(running, place)
  if (state.steps >= limits.steps) {
    throw usedUp('runtime', place, `a run may have ${limits.steps} steps, and this is one more`)
  }
  return ++state.steps
}

async function doInTime(here: Here & { input: Json }, mark: TaskMark): Promise<Made> {
  const { running, task, place } = here
  const ms = timeoutMs(running, task.timeout, place)
  if (ms === undefined) return doKind(here, mark)
  const at = (mark.deadline ??= (mark.began ?? 0) + ms)
  return inTime({ world: running.world, stop: here.scope.stop, place, at }, async (stop) =>
    doKind({ ...here, scope: { ...here.scope, stop } }, mark),
  )
}

/** Each kind of task, with its part of the mark. */
async function doKind(here: Here & { input: Json }, mark: TaskMark): Promise<Made> {
  const own = (mark.own ??= {})
  const sorted = sortTask(here.task)
  switch (sorted.kind) {
    case 'do':
      return here.running.runList(sorted.task.do, `${here.place}/do`, here.input, here.scope, own)
    case 'set':
      return doSet(sorted.task, here, own)
    case 'switch':
      return doSwitch(sorted.task, here, own)
    case 'for':
      return doFor(sorted.task, here, own)
    case 'fork':
      return doFork(sorted.task, here, own)
    case 'try':
      return doTry(sorted.task, here, own)
    case 'wait':
      return doWait(sorted.task, here, own)
    case 'listen':
      return doListen(sorted.task, here, own)
    case 'raise':
      return doRaise(sorted.task, here, own)
    case 'run':
      return doRun(sorted.task, here, own)
    case 'http':
      return callHttp(sorted.task, here, own)
    case 'function':
      break
  }
  return callFunction(sorted.task, here, own)
}

/** What the task gives becomes what the next one gets; and the context, if it says so. */
async function finish(here: Here): Promise<Json> {
  const { task, running, place, rawOutput = null } = here
  const { limits, state } = running
  const output =
    task.output?.as === undefined ? rawOutput : await transform(here, rawOutput, task.output.as)
  await validate(here, task.output?.schema?.document, output, 'the output')
  requireSize(place, output, limits)
  if (task.export?.as !== undefined) {
    const context = await transform({ ...here, output }, output, task.export.as)
    await validate(here, task.export.schema?.document, context, 'the context')
    requireSize(place, context, limits)
    state.context = context
  }
  return output
}

function requireSize(place: string, value: Json, { valueBytes }: Limits): void {
  // Cheap where it matters: texts are the bulk of what is large, and count by their letters here.
  if (typeof value !== 'object' || value === null) return
  if (JSON.stringify(value).length > valueBytes) {
    throw raise('runtime', place, `a value may have ${valueBytes} bytes, and this has more`)
  }
}

async function validate(
  { running, place }: Here,
  schema: object | undefined,
  value: Json,
  what: string,
): Promise<void> {
  if (schema === undefined) return
  const wrong = await running.world.validate(schema, value)
  if (wrong.length > 0) throw raise('validation', place, `${what}: ${wrong.join('; ')}`)
}

function timeoutMs(
  { use }: Running,
  timeout: Timeout | string | undefined,
  place: string,
): number | undefined {
  const found = typeof timeout === 'string' ? use.timeouts?.[timeout] : timeout
  if (timeout === undefined) return undefined
  const ms = found === undefined ? undefined : durationMs(found.after)
  if (ms === undefined) throw raise('configuration', place, 'the time-out says no duration')
  return ms
}
