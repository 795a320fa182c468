import type { Body } from '@skerry/service'
import type { Element } from '@skerry/xml'

/** What an example may name: the resource that it creates, and addresses of a template and a vApp. */
export interface ExampleContext {
  readonly name?: string
  readonly template: string
  readonly vapp: string
}

/** The reader of a request document. The reference shows its example, and tests send it, valid and malformed. */
export interface RequestDocument<T> extends Body<T> {
  /** The name of the element, which the schema defines. */
  readonly shape: string
  readonly example: (at: ExampleContext) => Element
}
