import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'

import type { Asker } from '../http/asker.ts'
import type { Attribute } from './attribute.ts'
import { judgeFilter, type Test } from './condition.ts'
import { readCursor, type Cursor } from './cursor.ts'
import { attributeNamed, fieldsAt, type Fields } from './fields.ts'
import { parseFilter } from './filter.ts'
import { recordTypes, type RecordType } from './record-types.ts'

const PAGE_SIZE = 25
const PAGE_SIZE_MAX = 128

export const formats = ['records', 'references', 'idrecords'] as const
export type Format = (typeof formats)[number]

export interface Sort {
  readonly attribute: Exclude<Attribute, { readonly is: 'constant' }>
  readonly descending: boolean
}

/** A question to the query service, checked: what it names is there, and what it compares with fits. */
export interface Query {
  readonly type: RecordType
  readonly format: Format
  readonly fields: readonly (readonly [name: string, attribute: Attribute])[]
  readonly test: Test
  /** Undefined: as the records came to be. */
  readonly sort: Sort | undefined
  readonly page: number
  readonly pageSize: number
  /** The page begins behind this, whatever its number says. */
  readonly after: Cursor | undefined
}

const word = Type.Optional(Type.String())
export const QueryParameters = Type.Object({
  ...{ type: word, filter: word, filterEncoded: word, fields: word, page: word, pageSize: word },
  ...{ format: word, sortAsc: word, sortDesc: word, after: word },
})
export type Asked = Static<typeof QueryParameters>

export function typeNamed(name: string): RecordType {
  const type = recordTypes.get(name)
  if (type) return type
  const all = [...recordTypes.keys()].join(', ')
  throw new Fault('invalid', `type must be one of ${all}, not ${name || 'nothing'}`)
}

export function parseQuery(
  type: RecordType,
  asked: Asked,
  { version, dialect }: Pick<Asker, 'version' | 'dialect'>,
): Query {
  const known = fieldsAt(type, version)
  const format = formatOf(type, asked.format)
  const sort = sortOf(type, known, asked)
  const encoded = asked.filterEncoded === 'true'
  const filter = asked.filter === undefined ? undefined : parseFilter(asked.filter, { encoded })
  const size = count('pageSize', asked.pageSize, PAGE_SIZE)
  const keys = (sort ? 1 : 0) + type.key.length
  return {
    ...{ type, format, sort, page: count('page', asked.page, 1) },
    pageSize: Math.min(size, PAGE_SIZE_MAX),
    fields: fieldsOf(type, known, format, asked.fields),
    // The first version compares without regard to case.
    test:
      filter === undefined ||
      judgeFilter(type, known, filter, { dialect, cased: version !== '1.5' }),
    after: asked.after === undefined ? undefined : readCursor(asked.after, keys),
  }
}

function formatOf(type: RecordType, asked = 'records'): Format {
  const there = type.references ? formats : formats.filter((each) => each !== 'references')
  const format = there.find((each) => each === asked)
  if (format) return format
  throw new Fault('invalid', `format must be one of ${there.join(', ')}, not ${asked}`)
}

function fieldsOf(
  type: RecordType,
  known: Fields,
  format: Format,
  asked: string | undefined,
): Query['fields'] {
  if (format === 'references') return nameOf(known)
  if (asked === undefined) return [...known]
  // Where it is and what it is are told in any case.
  const names = new Set(asked.split(',').filter((each) => each !== 'href' && each !== 'id'))
  return [...names].map((name) => [name, attributeNamed(type, known, name)])
}

const nameOf = (known: Fields): Query['fields'] => {
  const name = known.get('name')
  return name ? [['name', name]] : []
}

function sortOf(type: RecordType, known: Fields, { sortAsc, sortDesc }: Asked): Sort | undefined {
  if (sortAsc !== undefined && sortDesc !== undefined) {
    throw new Fault('invalid', 'sort by sortAsc or by sortDesc, not by both')
  }
  const named = sortAsc ?? sortDesc
  if (named === undefined) return undefined
  const attribute = attributeNamed(type, known, named)
  return attribute.is === 'constant' ? undefined : { attribute, descending: sortDesc !== undefined }
}

function count(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw new Fault('invalid', `${name} must be a number from 1 on, not ${value}`)
}
