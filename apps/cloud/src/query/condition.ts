import { Fault } from '@skerry/fault'
import { UUID } from '@skerry/vm'

import type { Dialect } from '../dialect/dialect.ts'
import type { EventCursors } from '../feeds/event-cursors.ts'
import { saidFor, type Attribute } from './attribute.ts'
import { attributeNamed, type Fields } from './fields.ts'
import type { Comparison, Filter, Operator } from './filter.ts'
import type { RecordType } from './record-types.ts'

type AttributeOfKind<Is extends Attribute['is']> = Extract<Attribute, { readonly is: Is }>

/**
 * A filter whose names and values were checked against a record type. Parts that do not depend on a record are already decided.
 * Client input occurs only in values.
 */
export type CheckedFilter =
  | boolean
  | { readonly any: readonly CheckedFilter[] }
  | { readonly all: readonly CheckedFilter[] }
  /** The record's own key: `equal` to it, or not. */
  | { readonly is: 'key'; readonly equal: boolean; readonly value: readonly string[] }
  | {
      readonly is: 'text'
      readonly attribute: AttributeOfKind<'text'>
      readonly equal: boolean
      readonly cased: boolean
      /** The parts between its wildcards. */
      readonly value: readonly string[]
    }
  | {
      readonly is: 'word'
      readonly attribute: AttributeOfKind<'word'>
      readonly among: readonly string[]
      readonly others: readonly string[]
    }
  | {
      readonly is: 'value'
      readonly attribute: AttributeOfKind<'number' | 'boolean' | 'time' | 'reference'>
      readonly sign: Operator
      readonly value: string
    }

const uuidAtEnd = new RegExp(`${UUID}$`)

/** How a filter is interpreted. */
export interface FilterOptions {
  /** == without a wildcard is case-sensitive. */
  readonly cased: boolean
  readonly dialect: Pick<Dialect, 'words'>
  /** Event ids as the organisation sees them, if events are queried. */
  readonly events?: EventCursors | undefined
}

export function judgeFilter(
  type: RecordType,
  known: Fields,
  filter: Filter,
  how: FilterOptions,
): CheckedFilter {
  const each = (part: Filter): CheckedFilter => judgeFilter(type, known, part, how)
  if ('any' in filter) return anyOf(filter.any.map(each))
  if ('all' in filter) return allOf(filter.all.map(each))
  if (filter.field === 'href' || filter.field === 'id') return ownKey(type, filter, how)
  const where = `filter, column ${filter.column}: `
  const attribute = attributeNamed(type, known, filter.field, where)
  return comparisonTest(attribute, filter, how)
}

const anyOf = (tests: readonly CheckedFilter[]): CheckedFilter => {
  const open = tests.filter((test) => test !== false)
  return open.includes(true) ? true : open.length === 0 ? false : { any: open }
}

const allOf = (tests: readonly CheckedFilter[]): CheckedFilter => {
  const open = tests.filter((test) => test !== true)
  return open.includes(false) ? false : open.length === 0 ? true : { all: open }
}

function comparisonTest(
  attribute: Attribute,
  filter: Comparison,
  { cased, dialect }: FilterOptions,
): CheckedFilter {
  const { is: sign, value, column } = filter
  const where = `filter, column ${column}: `
  const wild = value.length > 1
  const ordered = attribute.is === 'number' || attribute.is === 'time'
  const equal = sign === '=='
  if (!equal && sign !== '!=' && !ordered) {
    throw new Fault('invalid', `${where}${filter.field} has no order: only == and != are allowed`)
  }
  if (wild && !equal) throw new Fault('invalid', `${where}* is allowed only after ==`)
  if (attribute.is === 'text') return { is: 'text', attribute, equal, cased, value }
  if (attribute.is === 'word') {
    const { words } = attribute
    const fits = (each: string) => matches(saidFor(attribute, dialect, each), value, cased)
    const among = words.filter((each) => fits(each) === equal)
    if (among.length === 0) return false
    if (among.length === words.length) return true
    return { is: 'word', attribute, among, others: words.filter((each) => !among.includes(each)) }
  }
  if (attribute.is === 'constant') return matches(String(attribute.value), value, cased) === equal
  if (wild) throw new Fault('invalid', `${where}* is not allowed for ${filter.field}`)
  const [written = ''] = value
  return { is: 'value', attribute, sign, value: readers[attribute.is](written, where) }
}

const readers: Readonly<
  Record<AttributeOfKind<'number' | 'boolean' | 'time' | 'reference'>['is'], Read>
> = {
  number(written, where) {
    if (/^-?\d{1,9}$/.test(written)) return written
    throw new Fault('invalid', `${where}expected a number of at most 9 digits`)
  },
  boolean(written, where) {
    const lowered = written.toLowerCase()
    if (lowered === 'true' || lowered === 'false') return lowered
    throw new Fault('invalid', `${where}expected true or false`)
  },
  time(written, where) {
    const form = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?)?$/
    const at = form.test(written) ? Date.parse(written) : Number.NaN
    if (!Number.isNaN(at)) return new Date(at).toISOString()
    throw new Fault('invalid', `${where}expected a time such as 2026-11-15T12:00:00Z`)
  },
  reference(written, where) {
    const uuid = uuidAtEnd.exec(written.toLowerCase())?.[0]
    if (uuid !== undefined) return uuid
    throw new Fault('invalid', `${where}expected the address or the id of a resource`)
  },
}
type Read = (written: string, where: string) => string

/** href==… and id==…: compares the record's own key. */
function ownKey(
  type: RecordType,
  { is: sign, value, column, field }: Comparison,
  { events }: FilterOptions,
): CheckedFilter {
  const where = `filter, column ${column}: `
  const equal = sign === '=='
  if (!equal && sign !== '!=') {
    throw new Fault('invalid', `${where}${field} has no order: only == and != are allowed`)
  }
  const [written = ''] = value
  if (value.length > 1) throw new Fault('invalid', `${where}* is not allowed for ${field}`)
  const uuid = readers.reference(written, where)
  const event = type.resource === 'event' ? events?.ofId(uuid) : undefined
  return { is: 'key', equal, value: event ? [event.tx, event.seq] : [uuid] }
}

/** Whether one of our words matches the value of a filter. With a wildcard the case never matters. */
function matches(word: string, parts: readonly string[], cased: boolean): boolean {
  if (parts.length === 1) return cased ? word === parts[0] : equalIgnoringCase(word, parts[0] ?? '')
  const [first = '', ...rest] = parts.map((part) => part.toLowerCase())
  const last = rest.pop() ?? ''
  const whole = word.toLowerCase()
  if (!whole.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = whole.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return whole.length - last.length >= at && whole.endsWith(last)
}

const equalIgnoringCase = (one: string, other: string): boolean =>
  one.toLowerCase() === other.toLowerCase()

/** The tally that can count the matching records by itself. The tally of the cloud has no organisations, and is shorter. */
export function talliedBy(test: CheckedFilter): 'cloud' | 'org' | undefined {
  if (typeof test === 'boolean') return 'cloud'
  const parts = 'any' in test ? test.any : 'all' in test ? test.all : undefined
  if (!parts) return 'is' in test && test.is !== 'key' ? test.attribute.tallied : undefined
  const tallies = parts.map(talliedBy)
  return tallies.includes(undefined) ? undefined : tallies.includes('org') ? 'org' : 'cloud'
}
