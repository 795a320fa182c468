import type { FoundExpression, Look, Rule } from './look.ts'
import { input, named, output, shape, text, timeout } from './look.ts'
import { refusal } from './refused.ts'
import { isMapping } from './schema-words.ts'
import { authentication, raisedError, retry } from './subset-parts.ts'
import { checkTask, taskList } from './subset-tasks.ts'
import { escapePointer } from './task.ts'
import { clip } from './text.ts'

/** The versions whose documents mean here what they say; between them only what we refuse has changed, and `set` by one expression. */
export const dslVersions = ['1.0.0', '1.0.1', '1.0.2', '1.0.3'] as const

/** Says of everything in the document that we do not run why, and where; what we run is looked at for sense. Answers its expressions. */
export function checkSubset(
  document: unknown,
  functions: ReadonlySet<string>,
  say: (at: string, message: string) => void,
): readonly FoundExpression[] {
  const names = (part: string): ReadonlySet<string> => {
    const use = isMapping(document) ? document['use'] : undefined
    const found = isMapping(use) ? use[part] : undefined
    return new Set(isMapping(found) ? Object.keys(found) : [])
  }
  const head = isMapping(document) && isMapping(document['document']) ? document['document'] : {}
  const look: Look = {
    say,
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
  workflow(look, document, '')
  checkRounds(look, document)
  return look.expressions
}

const dsl: Rule = (look, value, at) => {
  if (!dslVersions.some((known) => known === value))
    look.say(
      at,
      `the DSL's version ${clip(String(value))} is not run here; known: ${dslVersions.join(', ')}, in quotes`,
    )
}
const label: Rule = (look, value, at) => {
  if (typeof value !== 'string' || !/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/.test(value))
    look.say(at, 'expected 1 to 63 letters, digits and hyphens, no hyphen at either end')
}
const version: Rule = (look, value, at) => {
  if (typeof value !== 'string' || value.length > 64 || !/^\d+\.\d+\.\d+([-+].*)?$/.test(value))
    look.say(at, "expected a version of three numbers, in quotes: '1.0.0'")
}

const about: Rule = shape({
  what: 'document',
  rules: {
    dsl,
    namespace: label,
    name: label,
    version,
    title: text(200),
    summary: text(10_000),
    tags: named('tags', text(256)),
    metadata: (look, value, at) => {
      if (!isMapping(value)) look.say(at, 'expected a mapping')
    },
  },
  required: ['dsl', 'namespace', 'name', 'version'],
})

/** Parameters have names, so what comes in is an object. */
const startInput: Rule = (look, value, at) => {
  input(look, value, at)
  const schema = isMapping(value) && isMapping(value['schema']) ? value['schema'] : {}
  if (isMapping(schema['document']) && schema['document']['type'] !== 'object')
    look.say(`${at}/schema/document`, 'the input’s schema must have type: object')
  else checkSecretPlaces(look, schema['document'], `${at}/schema/document`)
}

/** A secret is sealed as a field of its own; further in it would be stored with its neighbours. */
export function checkSecretPlaces(look: Look, schema: unknown, at: string): void {
  const further = (value: unknown, place: string): void => {
    if (Array.isArray(value)) value.forEach((each, index) => further(each, `${place}/${index}`))
    if (!isMapping(value)) return
    if (value['format'] === 'password')
      look.say(`${place}/format`, 'a secret is a property of the input itself, not of one in it')
    for (const [key, each] of Object.entries(value)) further(each, `${place}/${escapePointer(key)}`)
  }
  const { properties, ...rest } = isMapping(schema) ? schema : {}
  further(rest, at)
  for (const [name, property] of Object.entries(isMapping(properties) ? properties : {})) {
    const { format: _, ...inner } = isMapping(property) ? property : {}
    further(inner, `${at}/properties/${escapePointer(name)}`)
  }
}

const use: Rule = shape({
  what: 'use',
  rules: {
    authentications: named('authentications', authentication),
    errors: named('errors', raisedError),
    functions: named('functions', (look, value, at) => checkTask(look, value, at, new Set())),
    retries: named('retries', retry),
    timeouts: named('timeouts', (look, value, at) => {
      if (typeof value === 'string') look.say(at, 'expected a mapping')
      else timeout(look, value, at)
    }),
  },
  refused: {
    secrets: refusal('use secrets'),
    catalogs: refusal('use catalogs'),
    extensions: refusal('use extensions'),
  },
})

const workflow: Rule = shape({
  what: 'a workflow',
  rules: { document: about, input: startInput, use, do: taskList, timeout, output },
  required: ['document', 'do'],
  refused: { schedule: refusal('schedule'), evaluate: refusal('evaluate') },
})

/** A function that calls itself, straight or round about, would never end being looked up. */
function checkRounds(look: Look, document: unknown): void {
  const parts = isMapping(document) && isMapping(document['use']) ? document['use'] : {}
  const functions = isMapping(parts['functions']) ? parts['functions'] : {}
  const calls = new Map(Object.entries(functions).map(([name, task]) => [name, called(task)]))
  const done = new Set<string>()
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name))
      look.say(
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

/** The names that are called anywhere in a task. */
function called(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(called)
  if (!isMapping(value)) return []
  const own = typeof value['call'] === 'string' ? [value['call']] : []
  return [...own, ...Object.values(value).flatMap(called)]
}
