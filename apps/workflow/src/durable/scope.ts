// What every task can see and ask: the run that it is part of, the names that stand around it, and where it stands.
import type { Document } from '../definition/definition.ts'
import { bareExpression, isExpression } from '../definition/expression.ts'
import type { Placed, Task, TaskList, Transform, Use } from '../definition/task.ts'
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
  Verbs,
} from './verbs.ts'

/** The interpreter's world. Temporal is one; a test's is another. Whoever is told to stop rejects with `Stopped`. */
export interface World extends Pick<Verbs, 'evaluate' | 'validate' | 'record'> {
  callFunction(call: FunctionCall, stop: Stop): Promise<Json>
  callHttp(call: HttpCall, stop: Stop): Promise<HttpAnswer>
  /** Answers its output, or null at once where it is not waited for. */
  runChild(child: ChildRun, waits: boolean, stop: Stop): Promise<Json>
  sleepUntil(time: number, stop: Stop): Promise<void>
  /** Until an event is there that came after this one, or until that time. */
  eventAfter(number: number, until: number, stop: Stop): Promise<void>
  now(): number
  /** From 0 to 1. */
  chance(): number
  id(): string
  /** Has the history become so long that the run should go on under a new one? `must`: however much is under way. */
  isFull(): 'no' | 'should' | 'must'
}

export interface Limits {
  /** Tasks begun in one run, however often each. */
  readonly steps: number
  /** Items of one loop. */
  readonly items: number
  /** Bytes of one value that a task gives, or of the context. */
  readonly valueBytes: number
  readonly runMs: number
  /** Runs inside of runs. */
  readonly depth: number
  /** Events that nobody listened for yet. */
  readonly events: number
}
export const limits: Limits = {
  steps: 20_000,
  items: 10_000,
  valueBytes: 512 * 1024,
  /** As long as a definition may wait. */
  runMs: 366 * 24 * 3_600_000,
  depth: 5,
  events: 1_000,
}

/** All that a run is, beside its definition: plain data, so that it can go on under a new history from where it stands. */
export interface RunState {
  began: number
  context: Json
  steps: number
  notes: number
  events: number
  inbox: { readonly number: number; readonly event: RunEvent }[]
  readonly mark: ListMark & { input?: Json }
}
export const newState = (now: number): RunState => ({
  ...{ began: now, context: {}, steps: 0, notes: 0, events: 0, inbox: [], mark: {} },
})

/** How far a list of tasks is. */
export interface ListMark {
  at?: number
  data?: Json
  inner?: TaskMark
}
/** How far a task is. What is not there has not been done. */
export interface TaskMark {
  step?: number
  began?: number
  /** Transformed. */
  input?: Json
  deadline?: number
  /** Whatever its kind needs. */
  own?: object
}

/** One run. */
export interface Running {
  readonly run: RunInput
  readonly world: World
  readonly document: Document
  readonly use: Use
  /** The workflow's input, as it came. */
  readonly rawInput: Json
  readonly limits: Limits
  readonly state: RunState
  /** Said when the run goes on under a new history: what rests wakes up, what works is waited for. */
  readonly leave: Stop
  readonly live: Live
  readonly pending: { steps: StepNote[]; asks: AskNote[]; writing: Promise<void> | undefined }
  runList(list: TaskList, place: string, input: Json, scope: Scope, mark: ListMark): Promise<Made>
  runTask(placed: Placed, raw: Json, scope: Scope, mark: TaskMark): Promise<Outcome>
}
/** When the run is too old. Nothing ticks for this: it is looked at wherever a task begins or rests. */
export const endOfTime = ({ state, limits }: Running): number => state.began + limits.runMs

export function requireTime(running: Running, place: string): void {
  if (running.world.now() < endOfTime(running)) return
  const days = running.limits.runMs / (24 * 3_600_000)
  throw usedUp('timeout', place, `a run may take ${days} days`)
}

/** What is under way at this moment; it is counted anew under each history. */
export interface Live {
  branches: number
  waiting: number
  listening: number
  calling: number
  told: ExecutionState
}

/** What stands around a task. */
export interface Scope {
  readonly variables: JsonObject
  readonly stop: Stop
}

/** What a task's kind gives. `over`: the whole run ends with this. */
export interface Made {
  readonly output: Json
  readonly next?: string
  readonly over?: boolean
}
export interface Outcome {
  readonly output: Json
  readonly next: string
  readonly over: boolean
}

/** A task while it runs. */
export interface Here {
  readonly running: Running
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

/** Of each kind of task: does it. `own` is its part of the mark, {} when it begins. */
export type Do<T extends Task, Own extends object = object> = (
  task: T,
  here: Here & { readonly input: Json },
  own: Own,
) => Promise<Made>

/** Evaluates expressions that are known to be some, wrapped or bare; each is answered or said why not. */
export async function evaluateEach(
  here: Here,
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
  const { world } = here.running
  const answers = await world.evaluate({
    ...{ expressions: hard, on, variables: Object.fromEntries(known) },
  })
  let next = 0
  return plain.map((each) => each ?? answers[next++] ?? { wrong: 'there was no answer' })
}
const nameOf = ([, name = '']: RegExpExecArray | RegExpMatchArray): string => name

export async function evaluateOne(here: Here, on: Json, text: string): Promise<Json> {
  const [answer] = await evaluateEach(here, on, [text])
  return valueOf(here, text, answer)
}

/** jq's own truth: everything but false and null. */
export const isTrue = (value: Json): boolean => value !== false && value !== null

export function valueOf(here: Here, text: string, answer: Evaluated | undefined): Json {
  if (answer !== undefined && 'value' in answer) return answer.value
  const why = answer?.wrong ?? 'there was no answer'
  throw raise('expression', here.place, `${bareExpression(text).slice(0, 200)}: ${why}`)
}

/** Data with expressions in it: each is put in its place by its value, all of them in one step. */
export async function fill(here: Here, on: Json, template: unknown): Promise<Json> {
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
export const transform = async (here: Here, on: Json, by: Transform): Promise<Json> =>
  typeof by === 'string' ? evaluateOne(here, on, by) : fill(here, on, by)

/** The arguments of an expression, made only where one is named. */
function variable(here: Here, name: string): Json | undefined {
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

const taskDescriptor = ({ name, place, task, raw, rawOutput, began }: Here): Json => ({
  ...{ name, reference: place, definition: task as unknown as Json, input: raw },
  ...(rawOutput !== undefined && { output: rawOutput }),
  startedAt: timeDescriptor(began),
})

const timeDescriptor = (milliseconds: number): Json => ({
  iso8601: new Date(milliseconds).toISOString(),
  epoch: { seconds: Math.floor(milliseconds / 1_000), milliseconds },
})
