import { isMapping } from '../definition/schema-words.ts'
import { clip } from '../definition/text.ts'
import { fieldsOf, type CheckedInputs, type FieldComplaint, type FormValues } from './inputs.ts'

/** A typed parameter value, as clients of this API write it: keyed by the name of its type. */
export type ParameterValue =
  | { readonly string: { readonly value: string } }
  | { readonly 'secure-string': { readonly value: string } }
  | { readonly number: { readonly value: number } }
  | { readonly boolean: { readonly value: boolean } }
  | { readonly date: { readonly value: string } }
  | { readonly array: { readonly elements: readonly (ParameterValue | null)[] } }
  | {
      readonly properties: {
        readonly property: readonly {
          readonly key: string
          readonly value: ParameterValue | null
        }[]
      }
    }
  | {
      readonly composite: {
        readonly type: string
        readonly property: readonly { readonly id: string; readonly value: ParameterValue | null }[]
      }
    }

export interface Parameter {
  readonly name: string
  readonly type: string
  readonly description?: string
  readonly scope?: string
  readonly value?: ParameterValue | null
}

/** The API's type name for a schema: string, number, boolean, Date, SecureString, Array/…, Properties, CompositeType(…). */
export function typeOf(schema: unknown): string {
  const { type, format, items, properties } = isMapping(schema) ? schema : ({} as FormValues)
  const [one = ''] = Array.isArray(type) ? type.filter((each) => each !== 'null') : [type]
  if (one === 'string' && format === 'password') return 'SecureString'
  if (one === 'string' && format === 'date-time') return 'Date'
  if (one === 'integer' || one === 'number') return 'number'
  if (one === 'string' || one === 'boolean') return one
  if (one === 'array') return `Array/${typeOf(items)}`
  if (one !== 'object') return 'Any'
  if (!isMapping(properties)) return 'Properties'
  const inner = Object.entries(properties).map(([name, each]) => `${name}:${typeOf(each)}`)
  return `CompositeType(${inner.join(',')})`
}

/** The fields of a schema as parameters without values: the inputs or outputs of a workflow. */
export const parametersOf = (schema: object | undefined): Parameter[] =>
  fieldsOf(schema).map(({ name, schema: own }) => ({
    name,
    type: typeOf(own),
    ...(typeof own['description'] === 'string' && { description: own['description'] }),
  }))

/**
 * Values as parameters, in the order of the schema, then of the values. A secret has its name but an empty value. A value without a
 * schema gets the type that it looks like.
 */
export function toParameters(schema: object | undefined, values: FormValues): Parameter[] {
  const fields = new Map(fieldsOf(schema).map((field) => [field.name, field]))
  const names = new Set([...fields.keys(), ...Object.keys(values)])
  return [...names].flatMap((name) => {
    if (!Object.hasOwn(values, name)) return []
    const value = values[name]
    const own = fields.get(name)?.schema
    const type = own === undefined ? looksLike(value) : typeOf(own)
    return [{ name, type, scope: 'local', value: wrap(value, own) }]
  })
}

function looksLike(value: unknown): string {
  if (Array.isArray(value)) return 'Array/Any'
  if (isMapping(value)) return 'Properties'
  return value === null ? 'Any' : typeof value
}

function wrap(value: unknown, schema: unknown): ParameterValue | null {
  const { properties, items, format } = isMapping(schema) ? schema : ({} as FormValues)
  if (format === 'password') return { 'secure-string': { value: '' } }
  if (typeof value === 'string')
    return format === 'date-time' ? { date: { value } } : { string: { value } }
  if (typeof value === 'number') return { number: { value } }
  if (typeof value === 'boolean') return { boolean: { value } }
  if (Array.isArray(value)) return { array: { elements: value.map((each) => wrap(each, items)) } }
  if (!isMapping(value)) return null
  const inner = isMapping(properties) ? properties : undefined
  const entries = Object.entries(value)
  if (inner === undefined)
    return {
      properties: { property: entries.map(([key, each]) => ({ key, value: wrap(each, true) })) },
    }
  const property = entries.map(([id, each]) => ({ id, value: wrap(each, inner[id]) }))
  return { composite: { type: typeOf(schema), property } }
}

const DEPTH = 32

/** Parameters to values. The values are validated against the schema afterwards (checkForm). */
export function fromParameters(schema: object | undefined, parameters: unknown): CheckedInputs {
  if (!Array.isArray(parameters))
    return { complaints: [{ field: '', message: 'expected a list of parameters' }] }
  const secrets = new Set(fieldsOf(schema).flatMap(({ name, secret }) => (secret ? [name] : [])))
  const value: Record<string, unknown> = Object.create(null)
  const complaints: FieldComplaint[] = []
  for (const each of parameters) {
    const name: unknown = isMapping(each) ? each['name'] : undefined
    if (!isMapping(each) || typeof name !== 'string' || name === '' || name === '__proto__')
      complaints.push({ field: '', message: 'a parameter without a name' })
    else if (name in value) complaints.push({ field: name, message: 'given twice' })
    else if (each['value'] === undefined || each['value'] === null) continue
    else {
      const found = unwrap(each['value'], 0)
      if ('wrong' in found) complaints.push({ field: name, message: found.wrong })
      else if (found.secret && !secrets.has(name))
        complaints.push({
          field: name,
          message: 'not a secure-string field: the value would be stored in clear text',
        })
      else value[name] = found.json
    }
  }
  return complaints.length > 0 ? { complaints } : { value: { ...value } }
}

type UnwrappedValue =
  | { readonly json: unknown; readonly secret: boolean }
  | { readonly wrong: string }

const kinds = 'string, secure-string, number, boolean, date, array, properties, composite'

function unwrap(value: unknown, depth: number): UnwrappedValue {
  if (value === null) return { json: null, secret: false }
  const entries = isMapping(value) ? Object.entries(value) : []
  const [kind = '', inner] = entries[0] ?? []
  if (entries.length !== 1) return { wrong: `expected a value under one of: ${kinds}` }
  if (depth > DEPTH) return { wrong: `deeper than ${DEPTH} levels` }
  const body = isMapping(inner) ? inner : {}
  if (kind === 'array') return list(body['elements'], depth)
  if (kind === 'properties') return mapping(body['property'], 'key', depth)
  if (kind === 'composite') return mapping(body['property'], 'id', depth)
  return scalar(kind, body['value'])
}

/** XML has only text, so a number or a boolean may be a string. */
function scalar(kind: string, value: unknown): UnwrappedValue {
  const plain = (json: unknown): UnwrappedValue => ({ json, secret: false })
  if (kind === 'string' || kind === 'secure-string')
    return typeof value === 'string'
      ? { json: value, secret: kind === 'secure-string' }
      : { wrong: `${kind}: expected a text` }
  if (kind === 'number') {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    return typeof number === 'number' && Number.isFinite(number)
      ? plain(number)
      : { wrong: 'expected a number' }
  }
  if (kind === 'boolean') {
    if (value === true || value === 'true') return plain(true)
    return value === false || value === 'false' ? plain(false) : { wrong: 'expected true or false' }
  }
  if (kind === 'date') {
    const time = typeof value === 'string' && value.length < 64 ? Date.parse(value) : Number.NaN
    return Number.isNaN(time)
      ? { wrong: 'expected a date such as 2026-01-31T12:00:00Z' }
      : plain(new Date(time).toISOString())
  }
  return { wrong: `unknown type "${clip(kind)}"; known: ${kinds}` }
}

function list(elements: unknown, depth: number): UnwrappedValue {
  const found = (Array.isArray(elements) ? elements : []).map((each) => unwrap(each, depth + 1))
  const wrong = found.find((each) => 'wrong' in each || each.secret)
  if (wrong !== undefined) return 'wrong' in wrong ? wrong : inside
  return { json: found.map((each) => ('json' in each ? each.json : null)), secret: false }
}

function mapping(entries: unknown, key: 'key' | 'id', depth: number): UnwrappedValue {
  const json: Record<string, unknown> = Object.create(null)
  for (const entry of Array.isArray(entries) ? entries : []) {
    const name: unknown = isMapping(entry) ? entry[key] : undefined
    if (!isMapping(entry) || typeof name !== 'string' || name === '__proto__')
      return { wrong: `expected entries of ${key} and value` }
    if (name in json) return { wrong: `"${clip(name)}" is given twice` }
    const found = unwrap(entry['value'] ?? null, depth + 1)
    if ('wrong' in found) return found
    if (found.secret) return inside
    json[name] = found.json
  }
  return { json: { ...json }, secret: false }
}

const inside: UnwrappedValue = {
  wrong: 'a secure-string must be a parameter of its own, not part of another',
}
