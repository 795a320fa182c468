// Validates a value against a schema. Both are untrusted: it runs in a thread that is terminated when it takes too long.
import { Errors } from 'typebox/schema'
import { Settings } from 'typebox/system'

import type { InvalidValue, Json } from './json.ts'
import { LinearPattern } from './pattern.ts'

const MOST_COMPLAINTS = 20
/** Details are dropped afterwards, so more are collected; TypeBox's default is 8. */
const MOST_FAILURES = 200

type Failure = ReturnType<typeof Errors>[1][number]

export function findInvalid(schema: object, value: Json): InvalidValue[] {
  try {
    const linear = withLinearPatterns(schema) as object
    Settings.Set({ maxErrors: MOST_FAILURES })
    const [isValid, failures] = Errors(linear, value)
    if (isValid) return []
    const complaints = failures
      .filter((each) => !isDetail(each, failures))
      .flatMap((each) => complaintsOf(each, schema))
    return complaints.length === 0
      ? [{ at: '', message: 'does not match the schema' }]
      : complaints.slice(0, MOST_COMPLAINTS)
  } catch (error) {
    const message = `could not be validated, because the schema is invalid: ${String(error)}`
    return [{ at: '', message }]
  }
}

/** These hold values, not schemas. */
const values = new Set(['const', 'enum', 'default', 'examples'])

function withLinearPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withLinearPatterns)
  if (typeof schema !== 'object' || schema === null) return schema
  const entries = Object.entries(schema).map(([word, each]: [string, unknown]) => {
    if (word === 'pattern' && typeof each === 'string') return [word, new LinearPattern(each)]
    return [word, values.has(word) ? each : withLinearPatterns(each)]
  })
  return Object.fromEntries(entries)
}

/** Whether another failure says it already: that of the alternatives, or those of each unknown member. */
const isDetail = (failure: Failure, all: readonly Failure[]): boolean =>
  failure.keyword === 'additionalProperties' ||
  all.some(
    ({ keyword, schemaPath, instancePath }) =>
      (keyword === 'anyOf' || keyword === 'oneOf') &&
      failure.schemaPath.startsWith(`${schemaPath}/${keyword}/`) &&
      failure.instancePath.startsWith(instancePath),
  )

/** The place and the words for one failure. Never contains the value itself, which may be a secret. */
function complaintsOf(failure: Failure, schema: object): InvalidValue[] {
  const { keyword, instancePath: at, schemaPath, params, message } = failure
  if (keyword === 'required') {
    return params.requiredProperties.map((name) => ({
      at: `${at}/${escapeStep(name)}`,
      message: 'required',
    }))
  }
  if (keyword === 'enum') {
    return [{ at, message: `expected one of ${clipped(params.allowedValues)}` }]
  }
  if (keyword === 'const') return [{ at, message: `expected ${clipped(params.allowedValue)}` }]
  if (keyword !== 'boolean') return [{ at, message }]
  const isUnknown = schemaPath.endsWith('/additionalProperties')
  return [{ at, message: isUnknown ? unknownIn(schema, schemaPath) : 'no value is allowed' }]
}

/** `#/properties/place/additionalProperties`: the known members are beside it. */
function unknownIn(schema: object, schemaPath: string): string {
  let found: unknown = schema
  for (const step of schemaPath.split('/').slice(1, -1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined
  }
  const known = isObject(found) ? found['properties'] : undefined
  return isObject(known)
    ? `unknown; known: ${Object.keys(known).join(', ').slice(0, 200)}`
    : 'unknown'
}

const clipped = (value: unknown): string => (JSON.stringify(value) ?? '').slice(0, 200)

const escapeStep = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1')

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
