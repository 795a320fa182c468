// The values of the operations that the interpreter may call.
import type { Json } from '@skerry/jq'

import type { DefinitionDocument } from '../definition/definition.ts'
import type { Interaction } from '../definition/task.ts'
import type { ExecutionState, RunInput } from './states.ts'

export type { Evaluated, Evaluation, Json, JsonObject } from '@skerry/jq'

/** An error as the DSL defines it (RFC 7807). `instance` is the place of the task that raised it. */
export interface Problem {
  readonly type: string
  readonly status: number
  readonly title?: string
  readonly detail?: string
  readonly instance?: string
}

export interface LoadedRun {
  readonly document: DefinitionDocument
  /** `secure-string` values are `SecureReference`s here. */
  readonly input: Json
}

/** Stands for a secret. The activity that sends the secret opens it, so that it is in no history. */
export interface SecureReference {
  readonly 'skerry.secure': string
}

export interface FunctionCall {
  readonly execution: string
  readonly grant: string
  /** `EXECUTION/STEP`: an idempotency key for all attempts. */
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
  /** `raw`: the bytes as base64. Otherwise decoded by media type: JSON, or else text. */
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

/** The state of a run, and its notes since the last report. */
export interface RunProgress {
  readonly execution: string
  readonly state: ExecutionState
  readonly steps: readonly StepNote[]
  /** User interactions that were opened or closed. */
  readonly asks: readonly AskNote[]
  readonly output?: Json
  readonly error?: Problem
}

/** One line of a run's log. `number` increases within a run, without gaps. */
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
  /** Undefined: it is closed, answered or not. */
  readonly question?: Interaction
}

/** An event sent to a run. A user's answer is one too: type `skerry.interaction`, with the id of the interaction. */
export interface RunEvent {
  readonly id: string
  readonly type: string
  readonly source: string
  readonly subject?: string
  readonly time?: string
  readonly data: Json
}
