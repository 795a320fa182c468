import { whyNotPattern } from '@skerry/jq'

import { escapePointer } from './task.ts'
import { clip } from './text.ts'

/** The supported JSON Schema keywords. Others are rejected: a rule that is not enforced would be misleading. */
export const schemaTypes = [
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
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

type Rule = (value: unknown, at: string, report: ReportError) => void
type ReportError = (at: string, message: string) => void

const text: Rule = (value, at, report) => {
  if (typeof value !== 'string') report(at, 'expected a text')
}
const flag: Rule = (value, at, report) => {
  if (typeof value !== 'boolean') report(at, 'expected true or false')
}
const amount: Rule = (value, at, report) => {
  if (typeof value !== 'number') report(at, 'expected a number')
}
const count: Rule = (value, at, report) => {
  if (!Number.isInteger(value) || (value as number) < 0)
    report(at, 'expected a whole number, 0 or more')
}
const anything: Rule = () => {}
const texts: Rule = (value, at, report) => {
  if (!Array.isArray(value) || value.some((each) => typeof each !== 'string'))
    report(at, 'expected a list of texts')
}
const schemas: Rule = (value, at, report) => {
  if (!Array.isArray(value) || value.length === 0) report(at, 'expected a list of schemas')
  else for (const [index, each] of value.entries()) checkSchema(each, `${at}/${index}`, report)
}
const named: Rule = (value, at, report) => {
  if (!isMapping(value)) report(at, 'expected a mapping of schemas')
  else
    for (const [name, each] of Object.entries(value))
      checkSchema(each, `${at}/${escapePointer(name)}`, report)
}
const type: Rule = (value, at, report) => {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  if (list.length === 0 || list.some((each) => !schemaTypes.some((known) => known === each)))
    report(at, `expected one of ${schemaTypes.join(', ')}, or a list of them`)
}
const format: Rule = (value, at, report) => {
  if (!schemaFormats.some((known) => known === value))
    report(at, `unsupported format; known: ${schemaFormats.join(', ')}`)
}
const reference: Rule = (value, at, report) => {
  if (typeof value !== 'string' || !/^#(\/|$)/.test(value))
    report(at, 'a reference must point into the same schema (#/$defs/name); nothing is fetched')
}

/** One row per keyword. */
export const schemaWords: Readonly<Record<string, Rule>> = {
  type,
  properties: named,
  required: texts,
  additionalProperties: (value, at, report) => checkSchema(value, at, report),
  items: (value, at, report) => checkSchema(value, at, report),
  enum: (value, at, report) => {
    if (!Array.isArray(value) || value.length === 0) report(at, 'expected a list of values')
  },
  const: anything,
  minimum: amount,
  maximum: amount,
  exclusiveMinimum: amount,
  exclusiveMaximum: amount,
  multipleOf: (value, at, report) => {
    if (typeof value !== 'number' || value <= 0) report(at, 'expected a number above 0')
  },
  minLength: count,
  maxLength: count,
  pattern: (value, at, report) => {
    if (typeof value !== 'string' || value.length > 500) {
      report(at, 'expected a pattern of at most 500 characters')
      return
    }
    const why = whyNotPattern(value)
    if (why !== undefined) report(at, `unsupported pattern: ${why}`)
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
  not: (value, at, report) => checkSchema(value, at, report),
  $ref: reference,
  $defs: named,
  definitions: named,
  // The following keywords are annotations and do not validate.
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

/** Checks that every keyword of this schema is supported. */
export function checkSchema(schema: unknown, at: string, report: ReportError): void {
  if (typeof schema === 'boolean') return
  if (!isMapping(schema)) {
    report(at, 'expected a JSON Schema')
    return
  }
  for (const [word, value] of Object.entries(schema)) {
    const place = `${at}/${escapePointer(word)}`
    const rule = Object.hasOwn(schemaWords, word) ? schemaWords[word] : undefined
    if (rule === undefined) report(place, `unsupported schema keyword "${clip(word)}"`)
    else rule(value, place, report)
  }
  if (schema['format'] === 'password')
    for (const word of ['default', 'const', 'enum', 'examples'])
      if (word in schema)
        report(`${at}/${word}`, 'a definition must not contain a secret, because it is exported')
}

export const isMapping = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
