import type { Input, NameOf, Output, TaskList, Timeout, UseSection } from './task.ts'

/** A valid workflow definition within the supported subset. The document is the DSL document as plain JSON. */
export interface WorkflowDefinition {
  readonly namespace: string
  readonly name: string
  readonly version: string
  readonly title: string
  readonly summary: string
  readonly tags: readonly string[]
  /** JSON Schema of the input; undefined: any input. */
  readonly input: object | undefined
  readonly document: DefinitionDocument
}

/** The DSL document, parsed from YAML or JSON. */
export interface DefinitionDocument {
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
  readonly use?: UseSection
  readonly do: TaskList
  readonly timeout?: Timeout | NameOf<'timeouts'>
  readonly output?: Output
}

/** A validation error and its place in the text. */
export interface Complaint {
  readonly line: number
  readonly column: number
  /** JSON pointer into the document. */
  readonly at: string
  readonly message: string
}
