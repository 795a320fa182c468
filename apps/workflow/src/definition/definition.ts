import type { Input, NameOf, Output, TaskList, Timeout, Use } from './task.ts'

/** A workflow as its author wrote it, found to be valid and of what we run. The document is the DSL's own, as plain JSON. */
export interface Definition {
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly title: string
  readonly summary: string
  readonly tags: readonly string[]
  /** JSON Schema of the input; undefined: anything. */
  readonly input: object | undefined
  readonly document: Document
}

/** The DSL's document, after YAML or JSON was read. */
export interface Document {
  readonly document: {
    readonly dsl: string
    readonly namespace: string
    readonly name: string
    readonly version: string
    readonly title?: string
    readonly summary?: string
    readonly tags?: Readonly<Record<string, string>>
    readonly metadata?: Readonly<Record<string, unknown>>
  }
  readonly input?: Input
  readonly use?: Use
  readonly do: TaskList
  readonly timeout?: Timeout | NameOf<'timeouts'>
  readonly output?: Output
}

/** What is wrong, and where in the text that was given. */
export interface Complaint {
  readonly line: number
  readonly column: number
  /** JSON pointer into the document. */
  readonly at: string
  readonly message: string
}
