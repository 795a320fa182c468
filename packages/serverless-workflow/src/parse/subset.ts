import { isMapping } from '../definition/schema-words.ts'
import { escapePointer } from '../definition/task.ts'
import { clip } from '../definition/text.ts'
import type { FoundExpression, Linter, LintRule } from './linter.ts'
import { input, named, output, shape, text, timeout } from './linter.ts'
import { refusal } from './refused.ts'
import { authentication, raisedError, retry } from './subset-parts.ts'
import { checkTask, taskList } from './subset-tasks.ts'

/** Supported DSL versions. They differ only in features that we reject, and in `set` with one expression. */
export const dslVersions = ['1.0.0', '1.0.1', '1.0.2', '1.0.3'] as const

/** Reports everything that is unsupported or invalid in the document, with its place. Returns the document's expressions. */
export function checkSubset(
  document: unknown,
  functions: ReadonlySet<string>,
  report: (at: string, message: string) => void,
): readonly FoundExpression[] {
  const names = (part: string): ReadonlySet<string> => {
    const use = isMapping(document) ? document['use'] : undefined
    const found = isMapping(use) ? use[part] : undefined
    return new Set(isMapping(found) ? Object.keys(found) : [])
  }
  const head = isMapping(document) && isMapping(document['document']) ? document['document'] : {}
  const linter: Linter = {
    report,
    functions,
    names: {
      authentications: names('authentications'),
      errors: names('errors'),
      functions: names('functions'),
      retries: names('retries'),
      timeouts: names('timeouts'),
    },
    dsl: typeof head['dsl'] === 'string' ? head['dsl'] : '',
    expressions: [],
    tasks: 0,
  }
  workflow(linter, document, '')
  checkRounds(linter, document)
  return linter.expressions
}

const dsl: LintRule = (linter, value, at) => {
  if (!dslVersions.some((known) => known === value))
    linter.report(
      at,
      `unsupported DSL version ${clip(String(value))}; known: ${dslVersions.join(', ')}, in quotes`,
    )
}
const label: LintRule = (linter, value, at) => {
  if (typeof value !== 'string' || !/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(value))
    linter.report(
      at,
      'expected 1 to 63 letters, digits and hyphens, without a hyphen at either end',
    )
}
const version: LintRule = (linter, value, at) => {
  if (typeof value !== 'string' || value.length > 64 || !/^\d+\.\d+\.\d+([-+].*)?$/.test(value))
    linter.report(at, "expected a version of three numbers, in quotes: '1.0.0'")
}

const about: LintRule = shape({
  what: 'document',
  rules: {
    dsl,
    namespace: label,
    name: label,
    version,
    title: text(200),
    summary: text(10_000),
    tags: named('tags', text(256)),
    metadata: (linter, value, at) => {
      if (!isMapping(value)) linter.report(at, 'expected a mapping')
    },
  },
  required: ['dsl', 'namespace', 'name', 'version'],
})

/** Parameters have names, so the input must be an object. */
const startInput: LintRule = (linter, value, at) => {
  input(linter, value, at)
  const schema = isMapping(value) && isMapping(value['schema']) ? value['schema'] : {}
  if (isMapping(schema['document']) && schema['document']['type'] !== 'object')
    linter.report(`${at}/schema/document`, 'the input’s schema must have type: object')
  else checkSecretPlaces(linter, schema['document'], `${at}/schema/document`)
}

/** A secret is sealed as a field of its own; a nested secret would be stored with the fields around it. */
export function checkSecretPlaces(linter: Linter, schema: unknown, at: string): void {
  const further = (value: unknown, place: string): void => {
    if (Array.isArray(value)) value.forEach((each, index) => further(each, `${place}/${index}`))
    if (!isMapping(value)) return
    if (value['format'] === 'password')
      linter.report(`${place}/format`, 'a secret must be a top-level property of the input')
    for (const [key, each] of Object.entries(value)) further(each, `${place}/${escapePointer(key)}`)
  }
  const { properties, ...rest } = isMapping(schema) ? schema : {}
  further(rest, at)
  for (const [name, property] of Object.entries(isMapping(properties) ? properties : {})) {
    const { format: _, ...inner } = isMapping(property) ? property : {}
    further(inner, `${at}/properties/${escapePointer(name)}`)
  }
}

const use: LintRule = shape({
  what: 'use',
  rules: {
    authentications: named('authentications', authentication),
    errors: named('errors', raisedError),
    functions: named('functions', (linter, value, at) => checkTask(linter, value, at, new Set())),
    retries: named('retries', retry),
    timeouts: named('timeouts', (linter, value, at) => {
      if (typeof value === 'string') linter.report(at, 'expected a mapping')
      else timeout(linter, value, at)
    }),
  },
  refused: {
    secrets: refusal('use secrets'),
    catalogs: refusal('use catalogs'),
    extensions: refusal('use extensions'),
  },
})

const workflow: LintRule = shape({
  what: 'a workflow',
  rules: { document: about, input: startInput, use, do: taskList, timeout, output },
  required: ['document', 'do'],
  refused: { schedule: refusal('schedule'), evaluate: refusal('evaluate') },
})

/** Reports functions that call themselves, directly or indirectly: resolving them would never end. */
function checkRounds(linter: Linter, document: unknown): void {
  const parts = isMapping(document) && isMapping(document['use']) ? document['use'] : {}
  const functions = isMapping(parts['functions']) ? parts['functions'] : {}
  const calls = new Map(Object.entries(functions).map(([name, task]) => [name, calledNames(task)]))
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name))
      linter.report(
        `/use/functions/${escapePointer(name)}`,
        `the function calls itself: ${[...path, name]
          .map((each) => clip(each, 20))
          .join(' → ')
          .slice(0, 200)}`,
      )
    else if (!done.has(name)) {
      for (const next of calls.get(name) ?? []) visit(next, [...path, name])
      done.add(name)
    }
  }
  for (const name of calls.keys()) visit(name, [])
}

/** The names called anywhere in a task. */
function calledNames(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(calledNames)
  if (!isMapping(value)) return []
  const own = typeof value['call'] === 'string' ? [value['call']] : []
  return [...own, ...Object.values(value).flatMap(calledNames)]
}
