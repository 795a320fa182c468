import type { Verbs } from '../durable/verbs.ts'
import { whyNotCompiled } from './compile.ts'
import type { Complaint, Definition, Document } from './definition.ts'
import { checkBySchema } from './dsl-schema.ts'
import { DEFINITION_LIMITS } from './limits.ts'
import type { FoundExpression } from './look.ts'
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
  const parsed = parse(text, functions)
  return 'complaints' in parsed ? parsed : { definition: parsed.definition }
}

/** The same, and every expression is compiled by jq itself: what it can not read is told here, and not when a run comes to it. */
export async function parseAndCompile(
  text: string,
  functions: ReadonlySet<string>,
  evaluate: Verbs['evaluate'],
): Promise<Parsed> {
  const parsed = parse(text, functions)
  if ('complaints' in parsed) return parsed
  const { definition, read, expressions } = parsed
  const said = await whyNotCompiled(expressions, evaluate)
  return said.length > 0 ? { complaints: complaintsOf(read, said) } : { definition }
}

type Said = readonly { readonly at: string; readonly message: string }[]
interface Whole {
  readonly definition: Definition
  readonly read: ReadText
  readonly expressions: readonly FoundExpression[]
}

function parse(
  text: string,
  functions: ReadonlySet<string>,
): Whole | { readonly complaints: readonly Complaint[] } {
  const outcome = readText(text)
  if ('complaints' in outcome) return outcome
  const { read } = outcome
  const said: { at: string; message: string }[] = []
  const say = (at: string, message: string) => {
    if (said.length < DEFINITION_LIMITS.complaints) said.push({ at, message })
  }
  const expressions = checkSubset(read.value, functions, say)
  if (said.length > 0) return { complaints: complaintsOf(read, said) }
  const document = read.value as Document
  checkBySchema(document, allTasks(document), say)
  if (said.length > 0) return { complaints: complaintsOf(read, said) }
  return { definition: definitionOf(document), read, expressions }
}

const complaintsOf = (read: ReadText, said: Said): Complaint[] =>
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
