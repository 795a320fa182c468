import type { Evaluator } from '@skerry/jq'

import type { Complaint, WorkflowDefinition, DefinitionDocument } from '../definition/definition.ts'
import { DEFINITION_LIMITS } from '../definition/limits.ts'
import { readText, type ReadText } from '../definition/text.ts'
import { allTasks } from '../definition/walk.ts'
import { whyNotCompiled } from './compile.ts'
import { checkBySchema } from './dsl-schema.ts'
import type { FoundExpression } from './linter.ts'
import { checkSubset } from './subset.ts'

export type ParseResult =
  | { readonly definition: WorkflowDefinition }
  | { readonly complaints: readonly Complaint[] }

/**
 * Parses YAML or JSON to a definition, or returns all errors with their lines. `functions` are the names of the built-in functions
 * (`skerry.vm.powerOn`) that a definition may call.
 */
export function parseDefinition(text: string, functions: ReadonlySet<string>): ParseResult {
  const parsed = parse(text, functions)
  return 'complaints' in parsed ? parsed : { definition: parsed.definition }
}

/** The same, and also compiles every expression with jq, so that invalid ones are reported now and not during a run. */
export async function parseAndCompile(
  text: string,
  functions: ReadonlySet<string>,
  evaluate: Evaluator['evaluate'],
): Promise<ParseResult> {
  const parsed = parse(text, functions)
  if ('complaints' in parsed) return parsed
  const { definition, read, expressions } = parsed
  const errors = await whyNotCompiled(expressions, evaluate)
  return errors.length > 0 ? { complaints: complaintsOf(read, errors) } : { definition }
}

type FoundErrors = readonly { readonly at: string; readonly message: string }[]
interface ParsedText {
  readonly definition: WorkflowDefinition
  readonly read: ReadText
  readonly expressions: readonly FoundExpression[]
}

function parse(
  text: string,
  functions: ReadonlySet<string>,
): ParsedText | { readonly complaints: readonly Complaint[] } {
  const outcome = readText(text)
  if ('complaints' in outcome) return outcome
  const { read } = outcome
  const errors: { at: string; message: string }[] = []
  const report = (at: string, message: string) => {
    if (errors.length < DEFINITION_LIMITS.complaints) errors.push({ at, message })
  }
  const expressions = checkSubset(read.value, functions, report)
  if (errors.length > 0) return { complaints: complaintsOf(read, errors) }
  const document = read.value as DefinitionDocument
  checkBySchema(document, allTasks(document), report)
  if (errors.length > 0) return { complaints: complaintsOf(read, errors) }
  return { definition: definitionOf(document), read, expressions }
}

const complaintsOf = (read: ReadText, errors: FoundErrors): Complaint[] =>
  errors
    .map(({ at, message }) => read.complain(at, message))
    .toSorted((a, b) => a.line - b.line || a.column - b.column)

/** The definition of a validated document: just parsed, or read from the database. */
export function definitionOf(document: DefinitionDocument): WorkflowDefinition {
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
