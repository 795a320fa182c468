import { readPattern } from './pattern.ts'
import { escapePointer } from './task.ts'
import { clip } from './text.ts'

/** The words of JSON Schema that are checked here. The others are refused: a rule that is not kept would be a lie. */
export const schemaTypes = [
  ...['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'],
] as const
export const schemaFormats = [
  'password',
  'date-time',
  'date',
  'time',
  'uri',
  'email',
  'uuid',
] as const

type Rule = (value: unknown, at: string, say: Say) => void
type Say = (at: string, message: string) => void

const text: Rule = (value, at, say) => {
  if (typeof value !== 'string') say(at, 'expected a text')
}
const flag: Rule = (value, at, say) => {
  if (typeof value !== 'boolean') say(at, 'expected true or false')
}
const amount: Rule = (value, at, say) => {
  if (typeof value !== 'number') say(at, 'expected a number')
}
const count: Rule = (value, at, say) => {
  if (!Number.isInteger(value) || (value as number) < 0)
    say(at, 'expected a whole number, 0 or more')
}
const anything: Rule = () => {}
const texts: Rule = (value, at, say) => {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string'))
    say(at, 'expected a list of texts')
}
const schemas: Rule = (value, at, say) => {
  if (!Array.isArray(value) || value.length === 0) say(at, 'expected a list of schemas')
  else for (const [index, each] of value.entries()) checkSchema(each, `${at}/${index}`, say)
}
const named: Rule = (value, at, say) => {
  if (!isMapping(value)) say(at, 'expected a mapping of schemas')
  else
    for (const [name, each] of Object.entries(value))
      checkSchema(each, `${at}/${escapePointer(name)}`, say)
}
const type: Rule = (value, at, say) => {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.some((each) => !schemaTypes.some((known) => known === each)))
    say(at, `expected one of ${schemaTypes.join(', ')}, or a list of them`)
}
const format: Rule = (value, at, say) => {
  if (!schemaFormats.some((known) => known === value))
    say(at, `this format is not checked here; known: ${schemaFormats.join(', ')}`)
}
const reference: Rule = (value, at, say) => {
  if (typeof value !== 'string' || !/^#(\/|$)/.test(value))
    say(at, 'a reference leads to a place in the same schema (#/$defs/name); nothing is fetched')
}

/** One row per word. */
export const schemaWords: Readonly<Record<string, Rule>> = {
  type,
  properties: named,
  required: texts,
  additionalProperties: (value, at, say) => checkSchema(value, at, say),
  items: (value, at, say) => checkSchema(value, at, say),
  enum: (value, at, say) => {
    if (!Array.isArray(value) || value.length === 0) say(at, 'expected a list of values')
  },
  const: anything,
  minimum: amount,
  maximum: amount,
  exclusiveMinimum: amount,
  exclusiveMaximum: amount,
  multipleOf: (value, at, say) => {
    if (typeof value !== 'number' || value <= 0) say(at, 'expected a number above 0')
  },
  minLength: count,
  maxLength: count,
  pattern: (value, at, say) => {
    if (typeof value !== 'string' || value.length > 500) {
      say(at, 'expected a pattern of at most 500 characters')
      return
    }
    const pattern = readPattern(value)
    if (typeof pattern === 'string') say(at, `the pattern can not be taken: ${pattern}`)
  },
  minItems: count,
  maxItems: count,
  uniqueItems: flag,
  minProperties: count,
  maxProperties: count,
  format,
  anyOf: schemas,
  oneOf: schemas,
  allOf: schemas,
  not: (value, at, say) => checkSchema(value, at, say),
  $ref: reference,
  $defs: named,
  definitions: named,
  // What follows says something to people and nothing to a value.
  $schema: text,
  $id: text,
  $comment: text,
  title: text,
  description: text,
  default: anything,
  examples: anything,
  deprecated: flag,
  readOnly: flag,
  writeOnly: flag,
}

/** Does every word of this schema mean something here? */
export function checkSchema(schema: unknown, at: string, say: Say): void {
  if (typeof schema === 'boolean') return
  if (!isMapping(schema)) {
    say(at, 'expected a JSON Schema')
    return
  }
  for (const [word, value] of Object.entries(schema)) {
    const place = `${at}/${escapePointer(word)}`
    const rule = Object.hasOwn(schemaWords, word) ? schemaWords[word] : undefined
    if (rule === undefined)
      say(place, `the schema's word "${clip(word)}" is not checked here, so it is not taken`)
    else rule(value, place, say)
  }
  if (schema['format'] === 'password')
    for (const word of ['default', 'const', 'enum', 'examples'])
      if (word in schema)
        say(`${at}/${word}`, 'a secret would stand in the definition, which is exported')
}

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
