// The context of a task: its run, the variables in scope, and its place.
import type { Evaluator } from '@skerry/jq'

import type { DefinitionDocument } from '../definition/definition.ts'
import { bareExpression, isExpression } from '../definition/expression.ts'
import type { ListedTask, Task, TaskList, Transform, UseSection } from '../definition/task.ts'
import { raise, usedUp } from './problem.ts'
import { simplePath } from './simple-path.ts'
import type { ExecutionState, RunInput } from './states.ts'
import type { Stop } from './stop.ts'
import type {
  AskNote,
  ChildRun,
  Evaluated,
  FunctionCall,
  HttpAnswer,
  HttpCall,
  Json,
  JsonObject,
  RunEvent,
  StepNote,
  RunProgress,
} from './verbs.ts'

/** The interpreter's environment: Temporal, or a test double. Each call rejects with `Stopped` when it is stopped. */
export interface Runtime extends Pick<Evaluator, 'evaluate' | 'validate'> {
  /** Records the progress of a run. Notes with numbers that were already written are skipped. */
  record(progress: RunProgress): Promise<void>
  callFunction(call: FunctionCall, stop: Stop): Promise<Json>
  callHttp(call: HttpCall, stop: Stop): Promise<HttpAnswer>
  /** Returns its output, or null immediately if `waits` is false. */
  runChild(child: ChildRun, waits: boolean, stop: Stop): Promise<Json>
  sleepUntil(time: number, stop: Stop): Promise<void>
  /** Resolves when an event newer than this one arrives, or at that time. */
  eventAfter(number: number, until: number, stop: Stop): Promise<void>
  now(): number
  /** A random number from 0 to 1. */
  chance(): number
  id(): string
  /** Whether the history is long enough to continue under a new one. `must`: even if calls are in progress. */
  isFull(): 'no' | 'should' | 'must'
}

export interface Limits {
  /** Tasks started in one run, counting repetitions. */
  readonly steps: number
  /** Items of one loop. */
  readonly items: number
  /** Bytes of one task output, or of the context. */
  readonly valueBytes: number
  readonly runMs: number
  /** Nesting of runs. */
  readonly depth: number
  /** Events that no task has consumed yet. */
  readonly events: number
}
export const RUN_LIMITS: Limits = {
  steps: 20_000,
  items: 10_000,
  valueBytes: 512 * 1024,
  /** As long as a definition may wait. */
  runMs: 366 * 24 * 3_600_000,
  depth: 5,
  events: 1_000,
}

/** The complete state of a run besides its definition: plain data, so that it can continue under a new history. */
export interface RunState {
  began: number
  context: Json
  steps: number
  notes: number
  events: number
  inbox: { readonly number: number; readonly event: RunEvent }[]
  readonly resumePoint: ListResumePoint & { input?: Json }
}
export const newState = (now: number): RunState => ({
  began: now,
  context: {},
  steps: 0,
  notes: 0,
  events: 0,
  inbox: [],
  resumePoint: {},
})

/** The resume point of a task list. */
export interface ListResumePoint {
  at?: number
  data?: Json
  inner?: TaskResumePoint
}
/** The resume point of a task. A missing field is not done yet. */
export interface TaskResumePoint {
  step?: number
  began?: number
  /** After `input.from`. */
  input?: Json
  deadline?: number
  /** State of the task kind. */
  kindState?: object
}

/** One run. */
export interface Run {
  readonly run: RunInput
  readonly runtime: Runtime
  readonly document: DefinitionDocument
  readonly use: UseSection
  /** The workflow's input before any transformation. */
  readonly rawInput: Json
  readonly limits: Limits
  readonly state: RunState
  /** Stopped when the run moves to a new history: waiting tasks wake up, calls in progress are awaited. */
  readonly leave: Stop
  readonly live: Live
  readonly pending: { steps: StepNote[]; asks: AskNote[]; writing: Promise<void> | undefined }
  runList(
    list: TaskList,
    place: string,
    input: Json,
    scope: Scope,
    resumePoint: ListResumePoint,
  ): Promise<TaskResult>
  runTask(
    placed: ListedTask,
    raw: Json,
    scope: Scope,
    resumePoint: TaskResumePoint,
  ): Promise<TaskOutcome>
}
/** The maximum end time of the run. There is no timer for it: it is checked when a task starts or waits. */
export const endOfTime = ({ state, limits }: Run): number => state.began + limits.runMs

export function requireTime(running: Run, place: string): void {
  if (running.runtime.now() < endOfTime(running)) return
  const days = running.limits.runMs / (24 * 3_600_000)
  throw usedUp('timeout', place, `the run exceeds the maximum of ${days} days`)
}

/** Counters of current activity; they start from zero in each history. */
export interface Live {
  branches: number
  waiting: number
  listening: number
  calling: number
  reported: ExecutionState
}

/** The surroundings of a task. */
export interface Scope {
  readonly variables: JsonObject
  readonly stop: Stop
}

/** The result of a task kind. `over`: the whole run ends with it. */
export interface TaskResult {
  readonly output: Json
  readonly next?: string
  readonly over?: boolean
}
export interface TaskOutcome {
  readonly output: Json
  readonly next: string
  readonly over: boolean
}

/** A task in execution. */
export interface TaskContext {
  readonly running: Run
  readonly name: string
  readonly place: string
  readonly task: Task
  readonly scope: Scope
  readonly step: number
  readonly began: number
  readonly raw: Json
  readonly input?: Json
  readonly rawOutput?: Json
  readonly output?: Json
}

/** Runs one task kind. `kindState` is its part of the resume point, {} at its start. */
export type TaskRunner<T extends Task, KindState extends object = object> = (
  task: T,
  here: TaskContext & { readonly input: Json },
  kindState: KindState,
) => Promise<TaskResult>

/** Evaluates expressions, wrapped or bare; each result is a value or an error. */
export async function evaluateEach(
  here: TaskContext,
  on: Json,
  texts: readonly string[],
): Promise<readonly Evaluated[]> {
  const expressions = texts.map(bareExpression)
  const plain = expressions.map((each) => simplePath(each, on, (name) => variable(here, name)))
  const hard = expressions.filter((_, n) => plain[n] === undefined)
  if (hard.length === 0) return plain.flatMap((each) => each ?? [])
  const names = new Set(hard.flatMap((each) => [...each.matchAll(/\$([A-Za-z_]\w*)/g)].map(nameOf)))
  const known = [...names].flatMap((name) => {
    const value = variable(here, name)
    return value === undefined ? [] : [[name, value] as const]
  })
  const { runtime } = here.running
  const answers = await runtime.evaluate({
    expressions: hard,
    on,
    variables: Object.fromEntries(known),
  })
  let next = 0
  return plain.map((each) => each ?? answers[next++] ?? { wrong: 'no result' })
}
const nameOf = ([, name = '']: RegExpExecArray | RegExpMatchArray): string => name

export async function evaluateOne(here: TaskContext, on: Json, text: string): Promise<Json> {
  const [answer] = await evaluateEach(here, on, [text])
  return valueOf(here, text, answer)
}

/** Truth as in jq: everything but false and null. */
export const isTrue = (value: Json): boolean => value !== false && value !== null

export function valueOf(here: TaskContext, text: string, answer: Evaluated | undefined): Json {
  if (answer !== undefined && 'value' in answer) return answer.value
  const why = answer?.wrong ?? 'no result'
  throw raise('expression', here.place, `${bareExpression(text).slice(0, 200)}: ${why}`)
}

/** Replaces every expression in the data with its value, all in one step. */
export async function fill(here: TaskContext, on: Json, template: unknown): Promise<Json> {
  const texts: string[] = []
  walk(template, (text) => {
    texts.push(text)
    return null
  })
  if (texts.length === 0) return template as Json
  const answers = await evaluateEach(here, on, texts)
  let next = 0
  return walk(template, (text) => valueOf(here, text, answers[next++]))
}

function walk(template: unknown, take: (text: string) => Json): Json {
  if (isExpression(template)) return take(template)
  if (Array.isArray(template)) return template.map((each) => walk(each, take))
  if (typeof template !== 'object' || template === null) return template as Json
  const entries = Object.entries(template).map(([key, each]) => [key, walk(each, take)] as const)
  return Object.fromEntries(entries)
}

/** `from` and `as`: an expression, or data with expressions in it. */
export const transform = async (here: TaskContext, on: Json, by: Transform): Promise<Json> =>
  typeof by === 'string' ? evaluateOne(here, on, by) : fill(here, on, by)

/** A variable of an expression, built only if the expression names it. */
function variable(here: TaskContext, name: string): Json | undefined {
  const { running, scope } = here
  if (Object.hasOwn(scope.variables, name)) return scope.variables[name]
  switch (name) {
    case 'context':
      return running.state.context
    case 'input':
      return here.input
    case 'output':
      return here.output
    case 'task':
      return taskDescriptor(here)
    case 'workflow':
      return {
        id: running.run.execution,
        definition: running.document as unknown as Json,
        input: running.rawInput,
        startedAt: timeDescriptor(running.state.began),
      }
    case 'runtime':
      return { name: 'skerry', version: '1', metadata: {} }
    default:
      return undefined
  }
}

const taskDescriptor = ({ name, place, task, raw, rawOutput, began }: TaskContext): Json => ({
  name,
  reference: place,
  definition: task as unknown as Json,
  input: raw,
  ...(rawOutput !== undefined && { output: rawOutput }),
  startedAt: timeDescriptor(began),
})

const timeDescriptor = (milliseconds: number): Json => ({
  iso8601: new Date(milliseconds).toISOString(),
  epoch: { seconds: Math.floor(milliseconds / 1_000), milliseconds },
})
