import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'

import type { Caller } from '../auth/caller.ts'
import type { Attribute } from './attribute.ts'
import { judgeFilter, type FilterOptions, type CheckedFilter } from './condition.ts'
import { readCursor, type PageCursor } from './cursor.ts'
import { attributeNamed, fieldsAt, type Fields } from './fields.ts'
import { parseFilter } from './filter.ts'
import { recordTypes, type RecordType } from './record-types.ts'

const PAGE_SIZE = 25
const PAGE_SIZE_MAX = 128

export const formats = ['records', 'references', 'idrecords'] as const
export type RecordFormat = (typeof formats)[number]

export interface Sort {
  readonly attribute: Exclude<Attribute, { readonly is: 'constant' }>
  readonly descending: boolean
}

/** A validated query: its attributes exist, and its values fit. */
export interface Query {
  readonly type: RecordType
  readonly format: RecordFormat
  readonly fields: readonly (readonly [name: string, attribute: Attribute])[]
  readonly test: CheckedFilter
  /** undefined: in order of creation. */
  readonly sort: Sort | undefined
  readonly page: number
  readonly pageSize: number
  /** The page starts after this, regardless of its number. */
  readonly after: PageCursor | undefined
}

const word = Type.Optional(Type.String())
export const QueryParameters = Type.Object({
  type: word,
  filter: word,
  filterEncoded: word,
  fields: word,
  page: word,
  pageSize: word,
  format: word,
  sortAsc: word,
  sortDesc: word,
  after: word,
})
export type QueryInput = Static<typeof QueryParameters>

export function typeNamed(name: string): RecordType {
  const type = recordTypes.get(name)
  if (type) return type
  const all = [...recordTypes.keys()].join(', ')
  throw new Fault('invalid', `type must be one of ${all}, not ${name || 'nothing'}`)
}

export function parseQuery(
  type: RecordType,
  requested: QueryInput,
  { version, dialect, events }: Pick<Caller, 'version' | 'dialect'> & Pick<FilterOptions, 'events'>,
): Query {
  const known = fieldsAt(type, version)
  const format = formatOf(type, requested.format)
  const sort = sortOf(type, known, requested)
  const encoded = requested.filterEncoded === 'true'
  const filter =
    requested.filter === undefined ? undefined : parseFilter(requested.filter, { encoded })
  const size = count('pageSize', requested.pageSize, PAGE_SIZE)
  const keys = (sort ? 1 : 0) + type.key.length
  return {
    type,
    format,
    sort,
    page: count('page', requested.page, 1),
    pageSize: Math.min(size, PAGE_SIZE_MAX),
    fields: fieldsOf(type, known, format, requested.fields),
    // Version 1.5 compares case-insensitively.
    test:
      filter === undefined ||
      judgeFilter(type, known, filter, { dialect, events, cased: version !== '1.5' }),
    after: requested.after === undefined ? undefined : readCursor(requested.after, keys, events),
  }
}

function formatOf(type: RecordType, requested = 'records'): RecordFormat {
  const there = type.references ? formats : formats.filter((each) => each !== 'references')
  const format = there.find((each) => each === requested)
  if (format) return format
  throw new Fault('invalid', `format must be one of ${there.join(', ')}, not ${requested}`)
}

function fieldsOf(
  type: RecordType,
  known: Fields,
  format: RecordFormat,
  requested: string | undefined,
): Query['fields'] {
  if (format === 'references') return nameOf(known)
  if (requested === undefined) return [...known]
  // href and id are included in any case.
  const names = new Set(requested.split(',').filter((each) => each !== 'href' && each !== 'id'))
  return [...names].map((name) => [name, attributeNamed(type, known, name)])
}

const nameOf = (known: Fields): Query['fields'] => {
  const name = known.get('name')
  return name ? [['name', name]] : []
}

function sortOf(
  type: RecordType,
  known: Fields,
  { sortAsc, sortDesc }: QueryInput,
): Sort | undefined {
  if (sortAsc !== undefined && sortDesc !== undefined) {
    throw new Fault('invalid', 'use sortAsc or sortDesc, not both')
  }
  const named = sortAsc ?? sortDesc
  if (named === undefined) return undefined
  const attribute = attributeNamed(type, known, named)
  return attribute.is === 'constant' ? undefined : { attribute, descending: sortDesc !== undefined }
}

function count(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw new Fault('invalid', `${name} must be a number of at least 1, not ${value}`)
}
