import { Fault } from '@skerry/fault'
import { type Static, Type } from '@skerry/schema'

/** The attributes for filtering and sorting: API name to column. */
export const listed = {
  id: 'id',
  name: 'name',
  description: 'description',
  version: 'version',
  categoryName: 'category_name',
} as const
export type ListColumn = keyof typeof listed

export interface ListCondition {
  readonly attribute: ListColumn
  readonly is: 'equal' | 'contains'
  readonly value: string
}

export interface SortOrder {
  readonly attribute: ListColumn
  readonly down: boolean
}

export interface ListQuery {
  /** All conditions must match. */
  readonly conditions: readonly ListCondition[]
  /** All tags are required. */
  readonly tags: readonly string[]
  /** Ends with a unique attribute, so that the order is total. */
  readonly order: readonly SortOrder[]
  /** Missing: no limit. */
  readonly maxResult: number | undefined
  readonly startIndex: number
  readonly counts: boolean
  /** Attributes to return; missing: all. */
  readonly keys: ReadonlySet<string> | undefined
}

const words = Type.Optional(Type.Union([Type.String(), Type.Array(Type.String())]))
const number = Type.Optional(Type.String({ pattern: '^[0-9]{1,9}$' }))

export const ListParameters = Type.Object({
  conditions: words,
  tags: words,
  maxResult: number,
  startIndex: number,
  queryCount: Type.Optional(Type.String({ pattern: '^(true|false)$' })),
  keys: words,
  sortOrders: words,
})
export type ListParameters = Static<typeof ListParameters>

const PARTS_MAX = 32

export function parseListQuery(requested: ListParameters): ListQuery {
  return {
    conditions: splitList(requested.conditions).map(readCondition),
    tags: splitList(requested.tags),
    order: readOrder(splitList(requested.sortOrders)),
    maxResult: requested.maxResult === undefined ? undefined : Number(requested.maxResult),
    startIndex: Number(requested.startIndex ?? 0),
    counts: requested.queryCount !== 'false',
    keys: requested.keys === undefined ? undefined : new Set(splitList(requested.keys)),
  }
}

/** Separated by commas, or given several times; a backslash escapes a comma in a value. */
function splitList(given: string | readonly string[] | undefined): string[] {
  const all = [given ?? []].flat().flatMap((each) => each.match(/(?:\\.|[^,\\])+/gs) ?? [])
  if (all.length > PARTS_MAX) {
    throw new Fault(
      'invalid',
      `at most ${PARTS_MAX} conditions, tags, keys or sort orders are allowed`,
    )
  }
  if (all.some((each) => each.includes('\0'))) {
    throw new Fault('invalid', 'query parameters must not contain NUL characters')
  }
  return all.map((each) => each.replaceAll(/\\(.)/gs, '$1'))
}

function readCondition(text: string): ListCondition {
  const [, name = '', sign, value = ''] = /^([^=~]*)([=~])(.*)$/s.exec(text) ?? []
  const attribute = name.trim()
  if (sign === undefined || !isListed(attribute)) {
    throw new Fault('invalid', `conditions: expected ${known} with = or ~, not ${text}`, {
      hint: 'conditions=name=X means equal, conditions=name~X means contains; separate several with commas',
    })
  }
  return { attribute, is: sign === '=' ? 'equal' : 'contains', value }
}

/** '+name' sorts ascending, '-name' descending; an unescaped plus arrives as a space. */
function readOrder(given: readonly string[]): SortOrder[] {
  const order = given.map((text): SortOrder => {
    const [, sign, name = ''] = /^([+\- ]?)(.*)$/s.exec(text) ?? []
    if (!isListed(name)) throw new Fault('invalid', `sortOrders: expected ${known}, not ${text}`)
    return { attribute: name, down: sign === '-' }
  })
  const { down = false } = order.at(-1) ?? {}
  return [
    ...(order.length > 0 ? order : [{ attribute: 'name', down } as const]),
    ...(order.some(({ attribute }) => attribute === 'id')
      ? []
      : [{ attribute: 'id', down } as const]),
  ]
}

const isListed = (word: string): word is ListColumn => Object.hasOwn(listed, word)
const known = `one of ${Object.keys(listed).join(', ')}`
