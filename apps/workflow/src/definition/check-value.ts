import { readPattern } from './pattern.ts'
import { isMapping } from './schema-words.ts'
import { escapePointer } from './task.ts'

/** What is wrong with a value, and where in it. The value itself is never told: it may be a secret. */
export interface Wrong {
  readonly at: string
  readonly message: string
}

type Schema = Readonly<Record<string, unknown>>

/** Steps, not values: a schema that refers to itself ends here too. */
const BUDGET = 100_000
const DEPTH = 300
const TOLD = 50

/** Does a value keep to a schema, whose words were found to be known? Bounded in work, whatever both are. */
export function checkValue(schema: unknown, value: unknown): Wrong[] {
  const found: Wrong[] = []
  const work = { left: BUDGET }
  check(
    { root: schema, work, depth: 0, say: (at, message) => found.push({ at, message }) },
    schema,
    value,
    '',
  )
  if (work.left <= 0)
    return [{ at: '', message: 'too much to check: make schema or value smaller' }]
  return found.slice(0, TOLD)
}

interface Look {
  readonly root: unknown
  readonly work: { left: number }
  readonly depth: number
  say(at: string, message: string): void
}

function check(outer: Look, schema: unknown, value: unknown, at: string): void {
  const depth = outer.depth + 1
  const look = { ...outer, depth }
  look.work.left -= depth > DEPTH ? look.work.left : 1
  if (look.work.left <= 0 || schema === true || schema === undefined) return
  if (!isMapping(schema)) {
    look.say(at, 'nothing is allowed here')
    return
  }
  if (typeof schema['$ref'] === 'string')
    check(look, referred(look.root, schema['$ref']), value, at)
  const types = listOf(schema['type'])
  if (types.length > 0 && !types.some((type) => isOf(type, value))) {
    look.say(at, `expected ${types.join(' or ')}`)
    return
  }
  checkWords(look, schema, value, at)
  if (typeof value === 'string') checkText(look, schema, value, at)
  if (typeof value === 'number') checkNumber(look, schema, value, at)
  if (Array.isArray(value)) checkList(look, schema, value, at)
  if (isMapping(value)) checkMembers(look, schema, value, at)
}

function checkWords(look: Look, schema: Schema, value: unknown, at: string): void {
  if (Array.isArray(schema['enum']) && !schema['enum'].some((each) => same(each, value)))
    look.say(at, `expected one of ${JSON.stringify(schema['enum']).slice(0, 200)}`)
  if ('const' in schema && !same(schema['const'], value))
    look.say(at, `expected ${JSON.stringify(schema['const'])?.slice(0, 200)}`)
  for (const each of listOf(schema['allOf'])) check(look, each, value, at)
  const any = listOf(schema['anyOf'])
  if (any.length > 0 && !any.some((each) => keeps(look, each, value)))
    look.say(at, 'none of the alternatives (anyOf) fits')
  const one = listOf(schema['oneOf'])
  if (one.length > 0 && one.filter((each) => keeps(look, each, value)).length !== 1)
    look.say(at, 'not exactly one of the alternatives (oneOf) fits')
  if ('not' in schema && keeps(look, schema['not'], value)) look.say(at, 'this is excluded (not)')
}

/** Tried, without a word about it; the work counts. */
function keeps(look: Look, schema: unknown, value: unknown): boolean {
  let kept = true
  check({ ...look, say: () => (kept = false) }, schema, value, '')
  return kept
}

function checkText(look: Look, schema: Schema, value: string, at: string): void {
  // JSON Schema counts characters, not the halves of which JavaScript makes some.
  const length = value.length - (value.match(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g)?.length ?? 0)
  if (isNumber(schema['minLength']) && length < schema['minLength'])
    look.say(at, `expected at least ${schema['minLength']} characters`)
  if (isNumber(schema['maxLength']) && length > schema['maxLength'])
    look.say(at, `expected at most ${schema['maxLength']} characters`)
  if (typeof schema['pattern'] === 'string') checkPattern(look, schema['pattern'], value, at)
  const format = typeof schema['format'] === 'string' ? schema['format'] : ''
  const fits = Object.hasOwn(formats, format) ? formats[format] : undefined
  if (fits !== undefined && !(value.length <= 2048 && fits(value)))
    look.say(at, `expected a ${format}`)
}

/** Longer texts than people give names and numbers to are not matched. */
const MOST_MATCHED = 10_000

function checkPattern(look: Look, source: string, value: string, at: string): void {
  const pattern = readPattern(source)
  if (typeof pattern === 'string') return
  look.work.left -= Math.ceil((value.length * pattern.states) / 1000)
  if (look.work.left <= 0) return
  if (value.length > MOST_MATCHED) look.say(at, `too long for its pattern ${source.slice(0, 80)}`)
  else if (!pattern.fits(value)) look.say(at, `expected what fits ${source.slice(0, 80)}`)
}

const formats: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) =>
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/.test(value) &&
    !Number.isNaN(Date.parse(value)),
  date: (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)),
  time: (value) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(value),
  uri: (value) => /^[a-z][a-z0-9+.-]*:/i.test(value) && URL.canParse(value),
  email: (value) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(value),
  uuid: (value) => /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value),
}

function checkNumber(look: Look, schema: Schema, value: number, at: string): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema
  if (isNumber(minimum) && value < minimum) look.say(at, `expected ${minimum} or more`)
  if (isNumber(maximum) && value > maximum) look.say(at, `expected ${maximum} or less`)
  if (isNumber(exclusiveMinimum) && value <= exclusiveMinimum)
    look.say(at, `expected more than ${exclusiveMinimum}`)
  if (isNumber(exclusiveMaximum) && value >= exclusiveMaximum)
    look.say(at, `expected less than ${exclusiveMaximum}`)
  // 0.3 is three times 0.1 for people, if not for floating point.
  if (isNumber(multipleOf)) {
    const times = value / multipleOf
    if (Math.abs(times - Math.round(times)) > 1e-9 * Math.max(1, Math.abs(times)))
      look.say(at, `expected a multiple of ${multipleOf}`)
  }
}

function checkList(look: Look, schema: Schema, value: readonly unknown[], at: string): void {
  if (isNumber(schema['minItems']) && value.length < schema['minItems'])
    look.say(at, `expected at least ${schema['minItems']} entries`)
  if (isNumber(schema['maxItems']) && value.length > schema['maxItems'])
    look.say(at, `expected at most ${schema['maxItems']} entries`)
  if (schema['uniqueItems'] === true) {
    look.work.left -= value.length
    if (new Set(value.map(sorted)).size < value.length) look.say(at, 'expected no entry twice')
  }
  if ('items' in schema)
    for (const [index, each] of value.entries()) {
      if (look.work.left <= 0) return
      check(look, schema['items'], each, `${at}/${index}`)
    }
}

function checkMembers(look: Look, schema: Schema, value: Schema, at: string): void {
  const names = Object.keys(value)
  if (isNumber(schema['minProperties']) && names.length < schema['minProperties'])
    look.say(at, `expected at least ${schema['minProperties']} entries`)
  if (isNumber(schema['maxProperties']) && names.length > schema['maxProperties'])
    look.say(at, `expected at most ${schema['maxProperties']} entries`)
  for (const name of listOf(schema['required']))
    if (typeof name === 'string' && !Object.hasOwn(value, name))
      look.say(`${at}/${escapePointer(name)}`, 'this is required')
  const properties = isMapping(schema['properties']) ? schema['properties'] : {}
  for (const name of names) {
    if (look.work.left <= 0) return
    const place = `${at}/${escapePointer(name)}`
    if (Object.hasOwn(properties, name)) check(look, properties[name], value[name], place)
    else if (schema['additionalProperties'] === false)
      look.say(place, `not known; known: ${Object.keys(properties).join(', ').slice(0, 200)}`)
    else check(look, schema['additionalProperties'], value[name], place)
  }
}

/** `#/$defs/name` in the schema; what is not there allows nothing. */
export function referred(root: unknown, reference: string): unknown {
  let found: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (isMapping(found) && Object.hasOwn(found, name)) found = found[name]
    else if (Array.isArray(found)) found = found[Number(name)]
    else return false
  }
  return found ?? false
}

const isNumber = (value: unknown): value is number => typeof value === 'number'

const listOf = (value: unknown): readonly unknown[] =>
  Array.isArray(value) ? value : value === undefined ? [] : [value]

function isOf(type: unknown, value: unknown): boolean {
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isMapping(value)
  if (type === 'null') return value === null
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

const same = (left: unknown, right: unknown): boolean => sorted(left) === sorted(right)

/** One text per value, whatever the order of its keys. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    isMapping(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  ) ?? 'undefined'
