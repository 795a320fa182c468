import { bareExpression, isExpression } from '../definition/expression.ts'
import { DEFINITION_LIMITS } from '../definition/limits.ts'
import { checkSchema, isMapping } from '../definition/schema-words.ts'
import { escapePointer } from '../definition/task.ts'
import { clip } from '../definition/text.ts'
import { refusal } from './refused.ts'
import { whyNotDuration } from './why-not-duration.ts'
import { whyNotJq } from './why-not-jq.ts'

export interface FoundExpression {
  readonly at: string
  readonly program: string
}

/** The state of checking one document. */
export interface Linter {
  report(at: string, message: string): void
  /** The names of the built-in functions. */
  readonly functions: ReadonlySet<string>
  /** The names defined in each part of `use`. */
  readonly names: Readonly<
    Record<'authentications' | 'errors' | 'functions' | 'retries' | 'timeouts', ReadonlySet<string>>
  >
  readonly dsl: string
  /** All expressions found, unwrapped, with their places. */
  readonly expressions: FoundExpression[]
  /** The number of tasks found. */
  tasks: number
}

/** Checks one value of the document and reports its problems. */
export type LintRule = (linter: Linter, value: unknown, at: string) => void

export interface MappingShape {
  /** Its name in messages. */
  readonly what: string
  readonly rules: Readonly<Record<string, LintRule>>
  readonly required?: readonly string[]
  /** Unsupported DSL keys, with the message for each. */
  readonly refused?: Readonly<Record<string, string>>
}

/** A mapping with these keys only. */
export const shape =
  ({ what, rules, required = [], refused = {} }: MappingShape): LintRule =>
  (linter, value, at) => {
    if (!isMapping(value)) {
      linter.report(at, `${what}: expected a mapping`)
      return
    }
    for (const [key, inner] of Object.entries(value)) {
      const place = `${at}/${escapePointer(key)}`
      const no = Object.hasOwn(refused, key) ? refused[key] : undefined
      if (no !== undefined) linter.report(place, no)
      else if (Object.hasOwn(rules, key)) rules[key]?.(linter, inner, place)
      else
        linter.report(
          place,
          `${what}: unknown key "${clip(key)}"; known: ${Object.keys(rules).join(', ')}`,
        )
    }
    // If a key was rejected, do not also report the keys that it replaces as missing.
    if (Object.keys(value).some((key) => Object.hasOwn(refused, key))) return
    for (const key of required)
      if (!Object.hasOwn(value, key)) linter.report(at, `${what}: "${key}" is missing`)
  }

/** A mapping with names chosen by the author. */
export const named =
  (what: string, rule: LintRule): LintRule =>
  (linter, value, at) => {
    if (!isMapping(value)) linter.report(at, `${what}: expected a mapping`)
    else
      for (const [name, inner] of Object.entries(value))
        rule(linter, inner, `${at}/${escapePointer(name)}`)
  }

export const text =
  (most: number, least = 0): LintRule =>
  (linter, value, at) => {
    if (typeof value !== 'string') linter.report(at, 'expected a text')
    else if (value.length > most || value.length < least)
      linter.report(at, `expected ${least} to ${most} characters`)
  }

export const oneOf =
  (...words: readonly string[]): LintRule =>
  (linter, value, at) => {
    if (typeof value !== 'string' || !words.includes(value))
      linter.report(at, `expected one of ${words.join(', ')}`)
  }

export const flag: LintRule = (linter, value, at) => {
  if (typeof value !== 'boolean') linter.report(at, 'expected true or false')
}

export const wholeNumber =
  (least: number, most: number): LintRule =>
  (linter, value, at) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      linter.report(at, `expected a whole number from ${least} to ${most}`)
  }

export const duration: LintRule = (linter, value, at) => {
  const why = whyNotDuration(value)
  if (why !== undefined) linter.report(at, why)
}

/** A field that must be an expression, bare or wrapped. */
export const expression: LintRule = (linter, value, at) => {
  if (typeof value !== 'string') {
    linter.report(at, 'expected an expression')
    return
  }
  if (value.length > DEFINITION_LIMITS.expressionLength) {
    linter.report(at, `expression longer than ${DEFINITION_LIMITS.expressionLength} characters`)
    return
  }
  const program = bareExpression(value)
  const why = whyNotJq(program)
  if (why !== undefined) linter.report(at, `invalid expression: ${why}`)
  else if (/\$secrets\b/.test(program)) linter.report(at, refusal('use secrets'))
  else linter.expressions.push({ at, program })
}

/** Any data; checks the expressions in it. */
export const data: LintRule = (linter, value, at) => {
  if (isExpression(value)) expression(linter, value, at)
  else if (Array.isArray(value))
    for (const [index, inner] of value.entries()) data(linter, inner, `${at}/${index}`)
  else if (isMapping(value))
    for (const [key, inner] of Object.entries(value))
      data(linter, inner, `${at}/${escapePointer(key)}`)
}

export const dataMapping: LintRule = (linter, value, at) => {
  if (isMapping(value)) data(linter, value, at)
  else linter.report(at, 'expected a mapping')
}

/** `from` and `as`: an expression, or data with expressions in it. */
export const transform: LintRule = (linter, value, at) => {
  if (typeof value === 'string') expression(linter, value, at)
  else dataMapping(linter, value, at)
}

/** The name of a variable that expressions see as $name. */
export const variable: LintRule = (linter, value, at) => {
  if (typeof value !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(value))
    linter.report(at, 'expected a variable name: letters, digits and _, not starting with a digit')
  else if (reserved.has(value)) linter.report(at, `$${value} is a reserved name; use another one`)
}
const reserved = new Set([
  'context',
  'input',
  'output',
  'secrets',
  'authorization',
  'task',
  'workflow',
  'runtime',
  'ENV',
  '__loc__',
  '__prog_args',
])

/** A name defined in a part of `use`, or an inline value. */
export const nameOr =
  (part: keyof Linter['names'], rule: LintRule): LintRule =>
  (linter, value, at) => {
    if (typeof value !== 'string') rule(linter, value, at)
    else if (!linter.names[part].has(value))
      linter.report(at, `"${clip(value)}" is not defined in use.${part}`)
  }

export const jsonSchema: LintRule = (linter, value, at) => {
  checkSchema(value, at, (place, message) => linter.report(place, message))
}

const schema: LintRule = shape({
  what: 'schema',
  rules: {
    format: (linter, value, at) => {
      if (typeof value !== 'string' || !/^json(:|$)/.test(value)) linter.report(at, 'expected json')
    },
    document: jsonSchema,
  },
  required: ['document'],
  refused: { resource: refusal('schema resource') },
})
export const input: LintRule = shape({ what: 'input', rules: { schema, from: transform } })
export const output: LintRule = shape({ what: 'output', rules: { schema, as: transform } })
export const exported: LintRule = shape({ what: 'export', rules: { schema, as: transform } })
export const timeout: LintRule = nameOr(
  'timeouts',
  shape({ what: 'timeout', rules: { after: duration }, required: ['after'] }),
)
