// What the interpreter may ask of the world. Hardly more than types: Temporal replays whoever imports this.
import type { Document } from '../definition/definition.ts'
import type { Interaction } from '../definition/task.ts'
import type { ExecutionState, RunInput } from './states.ts'

export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [name: string]: Json
}

/** An error as the DSL has it (RFC 7807). `instance` is the place of the task that it came from. */
export interface Problem {
  readonly type: string
  readonly status: number
  readonly title?: string
  readonly detail?: string
  readonly instance?: string
}

/** The type of a failure whose first detail is a Problem: a definition may catch it. */
export const PROBLEM = 'problem'

/**
 * The steps that a run is made of, each written down by Temporal with its answer. All but `callFunction` and `callHttp` are short,
 * change nothing outside of our own database, and may be made again at any time.
 */
export interface Verbs {
  /** The one version that is run, and what it was started with. */
  loadRun(run: RunInput): Promise<LoadedRun>
  /** Several jq expressions on the same value. Each is answered, or said why not. */
  evaluate(ask: Evaluation): Promise<readonly Evaluated[]>
  /** What is wrong with a value by a JSON Schema; nothing: []. */
  validate(schema: object, value: Json): Promise<readonly string[]>
  /** A `skerry.*` function. The key is the same however often this step is made. */
  callFunction(call: FunctionCall): Promise<Json>
  /** Out through the egress. Any status is an answer. */
  callHttp(call: HttpCall): Promise<HttpAnswer>
  /** Writes down how a run stands. What was written before, by its numbers, is not written again. */
  record(progress: Progress): Promise<void>
  /** A run inside of a run: its execution and a grant of its own. Asked twice with the same key: the same one. */
  beginChild(child: ChildRun): Promise<RunInput>
  /** A run that its schedule asks for; undefined: the schedule is gone, or whoever made it may not any more. */
  beginScheduled(schedule: string, key: string): Promise<RunInput | undefined>
  /** Nothing is done in this run's name from here on. */
  endGrant(grant: string): Promise<void>
}

export interface LoadedRun {
  readonly document: Document
  /** `secure-string` values are `SecureReference`s here. */
  readonly input: Json
}

/** In the place of a secret: opened inside of the activity that sends it, so that it stands in no history. */
export interface SecureReference {
  readonly 'skerry.secure': string
}

export interface Evaluation {
  readonly expressions: readonly string[]
  readonly on: Json
  readonly variables: JsonObject
}
export type Evaluated = { readonly value: Json } | { readonly wrong: string }

export interface FunctionCall {
  readonly execution: string
  readonly grant: string
  /** `EXECUTION/STEP`: one effect, however often it is tried. */
  readonly key: string
  readonly name: string
  readonly input: Json
}

export interface HttpCall {
  readonly execution: string
  readonly key: string
  readonly method: string
  readonly uri: string
  readonly headers: Readonly<Record<string, Json>>
  readonly body?: Json
  /** `raw`: the bytes as base64. Otherwise read by its media type: JSON, or else text. */
  readonly output: 'raw' | 'content'
  readonly authentication?:
    | { readonly basic: { readonly username: Json; readonly password: Json } }
    | { readonly bearer: { readonly token: Json } }
}

export interface HttpAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly content: Json
}

export interface ChildRun {
  readonly parent: RunInput
  readonly key: string
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly input: Json
}

/** How a run stands, and what it did since it was last told. */
export interface Progress {
  readonly execution: string
  readonly state: ExecutionState
  readonly steps: readonly StepNote[]
  /** A person is asked something, or is not any more. */
  readonly asks: readonly AskNote[]
  readonly output?: Json
  readonly error?: Problem
}

/** One line of a run's log. `number` counts up within a run, without gaps. */
export interface StepNote {
  readonly number: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly place: string
  readonly name: string
  readonly what: 'began' | 'ended' | 'skipped' | 'failed' | 'again' | 'canceled'
  readonly text?: string
}

export interface AskNote {
  /** The interaction's id, by which it is answered. */
  readonly id: string
  readonly place: string
  /** Undefined: it is over, answered or not. */
  readonly question?: Interaction
}

/** An event that was sent to a run. An answer of a person is one too: type `skerry.interaction`, id that of the interaction. */
export interface RunEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly time?: string
  readonly data: Json
}
