import { whyNotDuration } from './duration.ts'
import { bareExpression, isExpression } from './expression.ts'
import { whyNotJq } from './jq.ts'
import { DEFINITION_LIMITS } from './limits.ts'
import { refusal } from './refused.ts'
import { checkSchema, isMapping } from './schema-words.ts'
import { escapePointer } from './task.ts'
import { clip } from './text.ts'

export interface FoundExpression {
  readonly at: string
  readonly program: string
}

/** What is known while a document is looked through. */
export interface Look {
  say(at: string, message: string): void
  /** The names of our own functions. */
  readonly functions: ReadonlySet<string>
  /** The names in each part of `use`. */
  readonly names: Readonly<
    Record<'authentications' | 'errors' | 'functions' | 'retries' | 'timeouts', ReadonlySet<string>>
  >
  readonly dsl: string
  /** The expressions that were seen, unwrapped, with their places. */
  readonly expressions: FoundExpression[]
  /** How many tasks were seen. */
  tasks: number
}

/** Looks at one value of the document, and says what is wrong with it. */
export type Rule = (look: Look, value: unknown, at: string) => void

export interface Shape {
  /** How it is called in a complaint. */
  readonly what: string
  readonly rules: Readonly<Record<string, Rule>>
  readonly required?: readonly string[]
  /** Keys that the DSL has and we do not take: what is said. */
  readonly refused?: Readonly<Record<string, string>>
}

/** A mapping of these keys and no others. */
export const shape =
  ({ what, rules, required = [], refused = {} }: Shape): Rule =>
  (look, value, at) => {
    if (!isMapping(value)) {
      look.say(at, `${what}: expected a mapping`)
      return
    }
    for (const [key, inner] of Object.entries(value)) {
      const place = `${at}/${escapePointer(key)}`
      const no = Object.hasOwn(refused, key) ? refused[key] : undefined
      if (no !== undefined) look.say(place, no)
      else if (Object.hasOwn(rules, key)) rules[key]?.(look, inner, place)
      else look.say(place, `${what} has no "${clip(key)}"; known: ${Object.keys(rules).join(', ')}`)
    }
    // Where something was refused, what stands in its place is no news.
    if (Object.keys(value).some((key) => Object.hasOwn(refused, key))) return
    for (const key of required)
      if (!Object.hasOwn(value, key)) look.say(at, `${what}: "${key}" is missing`)
  }

/** A mapping of names that the author chose. */
export const named =
  (what: string, rule: Rule): Rule =>
  (look, value, at) => {
    if (!isMapping(value)) look.say(at, `${what}: expected a mapping`)
    else
      for (const [name, inner] of Object.entries(value))
        rule(look, inner, `${at}/${escapePointer(name)}`)
  }

export const text =
  (most: number, least = 0): Rule =>
  (look, value, at) => {
    if (typeof value !== 'string') look.say(at, 'expected a text')
    else if (value.length > most || value.length < least)
      look.say(at, `expected ${least} to ${most} characters`)
  }

export const oneOf =
  (...words: readonly string[]): Rule =>
  (look, value, at) => {
    if (typeof value !== 'string' || !words.includes(value))
      look.say(at, `expected one of ${words.join(', ')}`)
  }

export const flag: Rule = (look, value, at) => {
  if (typeof value !== 'boolean') look.say(at, 'expected true or false')
}

export const wholeNumber =
  (least: number, most: number): Rule =>
  (look, value, at) => {
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most)
      look.say(at, `expected a whole number from ${least} to ${most}`)
  }

export const duration: Rule = (look, value, at) => {
  const why = whyNotDuration(value)
  if (why !== undefined) look.say(at, why)
}

/** Where an expression is expected, bare or wrapped. */
export const expression: Rule = (look, value, at) => {
  if (typeof value !== 'string') {
    look.say(at, 'expected an expression')
    return
  }
  if (value.length > DEFINITION_LIMITS.expressionLength) {
    look.say(at, `an expression has at most ${DEFINITION_LIMITS.expressionLength} characters`)
    return
  }
  const program = bareExpression(value)
  const why = whyNotJq(program)
  if (why !== undefined) look.say(at, `the expression can not be read: ${why}`)
  else if (/\$secrets\b/.test(program)) look.say(at, refusal('use secrets'))
  else look.expressions.push({ at, program })
}

/** Any data; the expressions in it are looked at. */
export const data: Rule = (look, value, at) => {
  if (isExpression(value)) expression(look, value, at)
  else if (Array.isArray(value))
    for (const [index, inner] of value.entries()) data(look, inner, `${at}/${index}`)
  else if (isMapping(value))
    for (const [key, inner] of Object.entries(value))
      data(look, inner, `${at}/${escapePointer(key)}`)
}

export const dataMapping: Rule = (look, value, at) => {
  if (isMapping(value)) data(look, value, at)
  else look.say(at, 'expected a mapping')
}

/** `from` and `as`: an expression, or data with expressions in it. */
export const transform: Rule = (look, value, at) => {
  if (typeof value === 'string') expression(look, value, at)
  else dataMapping(look, value, at)
}

/** The name of a variable that expressions will see as $name. */
export const variable: Rule = (look, value, at) => {
  if (typeof value !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(value))
    look.say(at, 'expected the name of a variable: letters, digits and _, no digit first')
  else if (reserved.has(value)) look.say(at, `$${value} means something already; take another name`)
}
const reserved = new Set([
  ...['context', 'input', 'output', 'secrets', 'authorization', 'task', 'workflow', 'runtime'],
  ...['ENV', '__loc__', '__prog_args'],
])

/** One of the names in a part of `use`, or the thing itself. */
export const nameOr =
  (part: keyof Look['names'], rule: Rule): Rule =>
  (look, value, at) => {
    if (typeof value !== 'string') rule(look, value, at)
    else if (!look.names[part].has(value))
      look.say(at, `there is no "${clip(value)}" in use.${part}`)
  }

export const jsonSchema: Rule = (look, value, at) => {
  checkSchema(value, at, (place, message) => look.say(place, message))
}

const schema: Rule = shape({
  what: 'schema',
  rules: {
    format: (look, value, at) => {
      if (typeof value !== 'string' || !/^json(:|$)/.test(value)) look.say(at, 'expected json')
    },
    document: jsonSchema,
  },
  required: ['document'],
  refused: { resource: refusal('schema resource') },
})
export const input: Rule = shape({ what: 'input', rules: { schema, from: transform } })
export const output: Rule = shape({ what: 'output', rules: { schema, as: transform } })
export const exported: Rule = shape({ what: 'export', rules: { schema, as: transform } })
export const timeout: Rule = nameOr(
  'timeouts',
  shape({ what: 'timeout', rules: { after: duration }, required: ['after'] }),
)
