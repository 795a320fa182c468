import { durationMs } from '../definition/duration.ts'
// Interprets a definition. It knows nothing of what makes a run durable: a program passes its Runtime, tests pass one in memory.
import {
  listedTasks,
  type ListedTask,
  sortTask,
  type TaskList,
  type Timeout,
} from '../definition/task.ts'
import { inTime } from './in-time.ts'
import { raise, Raised, usedUp } from './problem.ts'
import { addStepNote, report } from './progress.ts'
import {
  evaluateOne,
  type TaskContext,
  isTrue,
  type Limits,
  RUN_LIMITS,
  type ListResumePoint,
  type TaskResult,
  type TaskOutcome,
  type Run,
  type RunState,
  requireTime,
  type Scope,
  type TaskResumePoint,
  transform,
  type Runtime,
} from './scope.ts'
import type { RunInput } from './states.ts'
import { Stop, RunStopped } from './stop.ts'
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

/** How a run ended; `leaving`: it continues from its state under a new history. */
export type RunEnd =
  | { readonly ended: 'completed'; readonly output: Json }
  | { readonly ended: 'failed'; readonly error: Problem }
  | { readonly ended: 'canceled' }
  | { readonly ended: 'leaving' }

/** Runs a definition from the given state, which it keeps up to date. `stop` asks it to end. */
export async function interpret(
  run: RunInput,
  loaded: LoadedRun,
  state: RunState,
  { runtime, stop, limits = RUN_LIMITS }: { runtime: Runtime; stop: Stop; limits?: Limits },
): Promise<RunEnd> {
  const { document } = loaded
  const running: Run = {
    run,
    runtime,
    document,
    limits,
    state,
    rawInput: loaded.input,
    use: document.use ?? {},
    leave: new Stop(),
    live: { branches: 1, waiting: 0, listening: 0, calling: 0, reported: 'initializing' },
    pending: { steps: [], asks: [], writing: undefined },
    runList: async (...all) => runList(running, ...all),
    runTask: async (...all) => runTask(running, ...all),
  }
  try {
    const output = await runWhole(running, stop)
    await report(running, { state: 'completed', output })
    return { ended: 'completed', output }
  } catch (error) {
    if (error instanceof RunStopped && error.word === 'leaving') {
      await report(running)
      return { ended: 'leaving' }
    }
    if (error instanceof RunStopped) {
      await report(running, { state: 'canceled' })
      return { ended: 'canceled' }
    }
    if (!(error instanceof Raised)) throw error
    await report(running, { state: 'failed', error: error.problem })
    return { ended: 'failed', error: error.problem }
  }
}

/** Runs the whole workflow, which has an input, an output and a timeout like a task. */
async function runWhole(running: Run, stop: Stop): Promise<Json> {
  const { document, state, rawInput } = running
  const { input, output, timeout } = document
  const here: TaskContext = {
    running,
    name: document.document.name,
    place: '/',
    task: { do: [] },
    step: 0,
    scope: { variables: {}, stop },
    began: state.began,
    raw: rawInput,
  }
  if (state.resumePoint.input === undefined) {
    await validate(here, input?.schema?.document, rawInput, 'the input')
    state.resumePoint.input =
      input?.from === undefined ? rawInput : await transform(here, rawInput, input.from)
  }
  const first = state.resumePoint.input
  const work = async (inner: Stop) =>
    runList(running, document.do, '/do', first, { ...here.scope, stop: inner }, state.resumePoint)
  const ms = timeoutMs(running, timeout, '/timeout')
  const deadline = { runtime: running.runtime, stop, place: '/', at: state.began + (ms ?? 0) }
  const { output: raw } = ms === undefined ? await work(stop) : await inTime(deadline, work)
  const result = output?.as === undefined ? raw : await transform(here, raw, output.as)
  await validate(here, output?.schema?.document, result, 'the output')
  return result
}

/** Runs tasks in sequence until the list ends or a flow directive leaves it. */
async function runList(
  running: Run,
  list: TaskList,
  place: string,
  input: Json,
  scope: Scope,
  resumePoint: ListResumePoint,
): Promise<TaskResult> {
  const tasks = listedTasks(list, place)
  for (;;) {
    const { at = 0, data = input } = resumePoint
    const task = tasks[at]
    if (task === undefined) return { output: data }
    resumePoint.inner ??= {}
    const { output, next, over } = await runTask(running, task, data, scope, resumePoint.inner)
    if (over || next === 'end') return { output, over: true }
    if (next === 'exit') return { output }
    const to = next === 'continue' ? at + 1 : tasks.findIndex(({ name }) => name === next)
    if (to < 0) throw raise('configuration', task.place, `no task ${next} in the same list`)
    resumePoint.at = to
    resumePoint.data = output
    resumePoint.inner = {}
  }
}

async function runTask(
  running: Run,
  { name, task, place }: ListedTask,
  raw: Json,
  scope: Scope,
  resumePoint: TaskResumePoint,
): Promise<TaskOutcome> {
  if (resumePoint.step === undefined) {
    leaveIfFull(running)
    scope.stop.check()
    resumePoint.step = countStep(running, place)
    resumePoint.began = running.runtime.now()
  }
  const here: TaskContext = {
    running,
    name,
    place,
    task,
    scope,
    raw,
    step: resumePoint.step,
    began: resumePoint.began ?? 0,
  }
  try {
    if (resumePoint.input === undefined) {
      if (task.if !== undefined && !isTrue(await evaluateOne(here, raw, task.if))) {
        await addStepNote(running, here, 'skipped')
        return { output: raw, next: 'continue', over: false }
      }
      await addStepNote(running, here, 'began')
      await validate(here, task.input?.schema?.document, raw, 'the input')
      resumePoint.input =
        task.input?.from === undefined ? raw : await transform(here, raw, task.input.from)
    }
    const result = await doInTime({ ...here, input: resumePoint.input }, resumePoint)
    if (result.over) return { output: result.output, next: 'end', over: true }
    const output = await finishTask({ ...here, input: resumePoint.input, rawOutput: result.output })
    await addStepNote(running, here, 'ended')
    return { output, next: result.next ?? task.then ?? 'continue', over: false }
  } catch (error) {
    if (error instanceof RunStopped && error.word !== 'leaving')
      await addStepNote(running, here, 'canceled')
    if (!(error instanceof Raised)) throw error
    await addStepNote(running, here, 'failed', error.message)
    // An error from outside does not know its task: add the place.
    throw error.problem.instance === undefined
      ? new Raised({ ...error.problem, instance: place }, error.final)
      : error
  }
}

/** No work is in progress between two tasks, so this is where a run continues under a new history. */
function leaveIfFull({ runtime, leave, live }: Run): void {
  const full = runtime.isFull()
  if (full === 'must' || (full === 'should' && live.calling === 0)) leave.stop('leaving')
  leave.check()
}

function countStep(running: Run, place: string): number {
  const { state, limits } = running
  requireTime(running, place)
  if (state.steps >= limits.steps) {
    throw usedUp('runtime', place, `the run exceeds the maximum of ${limits.steps} steps`)
  }
  return ++state.steps
}

async function doInTime(
  here: TaskContext & { input: Json },
  resumePoint: TaskResumePoint,
): Promise<TaskResult> {
  const { running, task, place } = here
  const ms = timeoutMs(running, task.timeout, place)
  if (ms === undefined) return doKind(here, resumePoint)
  const at = (resumePoint.deadline ??= (resumePoint.began ?? 0) + ms)
  return inTime({ runtime: running.runtime, stop: here.scope.stop, place, at }, async (stop) =>
    doKind({ ...here, scope: { ...here.scope, stop } }, resumePoint),
  )
}

/** Dispatches to the task kind, with its part of the resume point. */
async function doKind(
  here: TaskContext & { input: Json },
  resumePoint: TaskResumePoint,
): Promise<TaskResult> {
  const kindState = (resumePoint.kindState ??= {})
  const sorted = sortTask(here.task)
  switch (sorted.kind) {
    case 'do':
      return here.running.runList(
        sorted.task.do,
        `${here.place}/do`,
        here.input,
        here.scope,
        kindState,
      )
    case 'set':
      return doSet(sorted.task, here, kindState)
    case 'switch':
      return doSwitch(sorted.task, here, kindState)
    case 'for':
      return doFor(sorted.task, here, kindState)
    case 'fork':
      return doFork(sorted.task, here, kindState)
    case 'try':
      return doTry(sorted.task, here, kindState)
    case 'wait':
      return doWait(sorted.task, here, kindState)
    case 'listen':
      return doListen(sorted.task, here, kindState)
    case 'raise':
      return doRaise(sorted.task, here, kindState)
    case 'run':
      return doRun(sorted.task, here, kindState)
    case 'http':
      return callHttp(sorted.task, here, kindState)
    case 'function':
      break
  }
  return callFunction(sorted.task, here, kindState)
}

/** Turns the raw output of a task into the input of the next one, and updates the context if the task exports it. */
async function finishTask(here: TaskContext): Promise<Json> {
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
  // A cheap estimate: most of a large value is text, and this counts characters.
  if (typeof value !== 'object' || value === null) return
  if (JSON.stringify(value).length > valueBytes) {
    throw raise('runtime', place, `the value exceeds the maximum of ${valueBytes} bytes`)
  }
}

async function validate(
  { running, place }: TaskContext,
  schema: object | undefined,
  value: Json,
  what: string,
): Promise<void> {
  if (schema === undefined) return
  const wrong = await running.runtime.validate(schema, value)
  if (wrong.length > 0) throw raise('validation', place, `${what}: ${wrong.join('; ')}`)
}

function timeoutMs(
  { use }: Run,
  timeout: Timeout | string | undefined,
  place: string,
): number | undefined {
  const found = typeof timeout === 'string' ? use.timeouts?.[timeout] : timeout
  if (timeout === undefined) return undefined
  const ms = found === undefined ? undefined : durationMs(found.after)
  if (ms === undefined) throw raise('configuration', place, 'the timeout has no valid duration')
  return ms
}
