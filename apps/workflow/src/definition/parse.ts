import type { Complaint, Definition, Document } from './definition.ts'
import { checkBySchema } from './dsl-schema.ts'
import { DEFINITION_LIMITS } from './limits.ts'
import { checkSubset } from './subset.ts'
import { readText, type ReadText } from './text.ts'
import { allTasks } from './walk.ts'

export type Parsed =
  | { readonly definition: Definition }
  | { readonly complaints: readonly Complaint[] }

/**
 * YAML or JSON to a definition, or everything that is wrong with it, each with its line. `functions` are the names of our own
 * (`skerry.vm.powerOn`), which a definition may call.
 */
export function parseDefinition(text: string, functions: ReadonlySet<string>): Parsed {
  const outcome = readText(text)
  if ('complaints' in outcome) return outcome
  const { read } = outcome
  const said: { at: string; message: string }[] = []
  const say = (at: string, message: string) => {
    if (said.length < DEFINITION_LIMITS.complaints) said.push({ at, message })
  }
  checkSubset(read.value, functions, say)
  if (said.length > 0) return { complaints: complaintsOf(read, said) }
  const document = read.value as Document
  checkBySchema(document, allTasks(document), say)
  if (said.length > 0) return { complaints: complaintsOf(read, said) }
  return { definition: definitionOf(document) }
}

const complaintsOf = (
  read: ReadText,
  said: readonly { readonly at: string; readonly message: string }[],
): Complaint[] =>
  said
    .map(({ at, message }) => read.complain(at, message))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)

/** A document that was found to be good: from a text just now, or as it was stored. */
export function definitionOf(document: Document): Definition {
  const { namespace, name, version, title, summary, tags } = document.document
  return {
    namespace,
    name,
    version,
    title: title ?? name,
    summary: summary ?? '',
    tags: Object.entries(tags ?? {}).map(([key, value]) =>
      value === '' ? key : `${key}=${value}`,
    ),
    input: document.input?.schema?.document,
    document,
  }
}
