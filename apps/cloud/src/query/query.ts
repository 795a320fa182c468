import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'

import { parseFilter, type Filter } from './filter.ts'
import { recordTypes, type RecordType } from './record-types.ts'

const PAGE_SIZE = 25
const PAGE_SIZE_MAX = 128

export interface Query {
  readonly type: RecordType
  readonly fields: readonly string[]
  readonly filter?: Filter
  readonly page: number
  readonly pageSize: number
  readonly sort?: { readonly field: string; readonly descending: boolean }
}

const word = Type.Optional(Type.String())
export const QueryParameters = Type.Object({
  ...{ type: word, filter: word, fields: word, page: word, pageSize: word, format: word },
  ...{ sortAsc: word, sortDesc: word },
})

export function parseQuery(asked: Static<typeof QueryParameters>): Query {
  const type: RecordType | undefined = Object.hasOwn(recordTypes, asked.type ?? '')
    ? recordTypes[asked.type as keyof typeof recordTypes]
    : undefined
  if (!type) {
    const all = Object.keys(recordTypes).join(', ')
    throw new Fault('invalid', `type must be one of ${all}, not ${asked.type ?? 'nothing'}`)
  }
  if (asked.format !== undefined && asked.format !== 'records') {
    throw new Fault('invalid', `format must be records, not ${asked.format}`)
  }
  const all = Object.keys(type.fields)
  const fields = asked.fields?.split(',').filter((each) => each !== 'href') ?? all
  for (const field of fields) requireField(type, field)
  const sorted = asked.sortAsc ?? asked.sortDesc
  if (sorted !== undefined) requireField(type, sorted)
  return {
    type,
    fields,
    page: count('page', asked.page, 1),
    pageSize: Math.min(count('pageSize', asked.pageSize, PAGE_SIZE), PAGE_SIZE_MAX),
    ...(asked.filter !== undefined && { filter: checked(type, parseFilter(asked.filter)) }),
    ...(sorted !== undefined && {
      sort: { field: sorted, descending: asked.sortAsc === undefined },
    }),
  }
}

function count(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise
  if (/^[1-9]\d{0,8}$/.test(value)) return Number(value)
  throw new Fault('invalid', `${name} must be a number from 1 on, not ${value}`)
}

function requireField(type: RecordType, field: string, column?: number): void {
  if (Object.hasOwn(type.fields, field)) return
  const where = column === undefined ? '' : `filter, column ${column}: `
  const all = Object.keys(type.fields).join(', ')
  throw new Fault('invalid', `${where}${type.name} has no attribute ${field}; it has ${all}`)
}

function checked(type: RecordType, filter: Filter): Filter {
  if ('any' in filter) filter.any.forEach((each) => checked(type, each))
  else if ('all' in filter) filter.all.forEach((each) => checked(type, each))
  else {
    requireField(type, filter.field, filter.column)
    const wild = filter.value.length > 1
    if (wild && filter.is !== '==') {
      throw new Fault('invalid', `filter, column ${filter.column}: * may stand only after ==`)
    }
    const compares = filter.is !== '==' && filter.is !== '!='
    if (compares && !type.fields[filter.field]?.ordered) {
      throw new Fault('invalid', `filter, column ${filter.column}: ${filter.field} has no order`)
    }
    if (type.fields[filter.field]?.ordered && !/^-?\d{1,9}$/.test(filter.value.join(''))) {
      throw new Fault('invalid', `filter, column ${filter.column}: a number was expected`)
    }
  }
  return filter
}
