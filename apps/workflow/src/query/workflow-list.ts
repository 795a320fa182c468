import { Fault } from '@skerry/fault'
import { Type, type Static } from 'typebox'

/** What can be asked for and sorted by, by its name on the wire. */
export const listed = {
  id: 'id',
  name: 'name',
  description: 'description',
  version: 'version',
  categoryName: 'category_name',
} as const
export type Listed = keyof typeof listed

export interface Condition {
  readonly attribute: Listed
  readonly is: 'equal' | 'contains'
  readonly value: string
}

export interface Order {
  readonly attribute: Listed
  readonly down: boolean
}

export interface ListQuery {
  /** All of them hold. */
  readonly conditions: readonly Condition[]
  /** It has all of them. */
  readonly tags: readonly string[]
  /** Ends in what tells any two apart. */
  readonly order: readonly Order[]
  /** Missing: all there are. */
  readonly maxResult: number | undefined
  readonly startIndex: number
  readonly counts: boolean
  /** Attributes to tell of each; missing: all. */
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

export function parseListQuery(asked: ListParameters): ListQuery {
  return {
    conditions: parts(asked.conditions).map(readCondition),
    tags: parts(asked.tags),
    order: readOrder(parts(asked.sortOrders)),
    maxResult: asked.maxResult === undefined ? undefined : Number(asked.maxResult),
    startIndex: Number(asked.startIndex ?? 0),
    counts: asked.queryCount !== 'false',
    keys: asked.keys === undefined ? undefined : new Set(parts(asked.keys)),
  }
}

/** Separated by commas, or given several times; a comma that belongs to a value has a backslash before it. */
function parts(given: string | readonly string[] | undefined): string[] {
  const all = [given ?? []].flat().flatMap((each) => each.match(/(?:\\.|[^,\\])+/gs) ?? [])
  if (all.length > PARTS_MAX) {
    throw new Fault('invalid', `at most ${PARTS_MAX} conditions, tags, keys or orders are taken`)
  }
  if (all.some((each) => each.includes('\0'))) {
    throw new Fault('invalid', 'nothing that is asked for holds the character NUL')
  }
  return all.map((each) => each.replaceAll(/\\(.)/gs, '$1'))
}

function readCondition(text: string): Condition {
  const [, name = '', sign, value = ''] = /^([^=~]*)([=~])(.*)$/s.exec(text) ?? []
  const attribute = name.trim()
  if (sign === undefined || !isListed(attribute)) {
    throw new Fault('invalid', `conditions: ${known} with = or ~ was expected, not ${text}`, {
      hint: 'conditions=name=X is equal, conditions=name~X contains; several are separated by commas',
    })
  }
  return { attribute, is: sign === '=' ? 'equal' : 'contains', value }
}

/** '+name' goes up, '-name' down; a plus that was not escaped arrives as a space. */
function readOrder(given: readonly string[]): Order[] {
  const order = given.map((text): Order => {
    const [, sign, name = ''] = /^([+\- ]?)(.*)$/s.exec(text) ?? []
    if (!isListed(name))
      throw new Fault('invalid', `sortOrders: ${known} was expected, not ${text}`)
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

const isListed = (word: string): word is Listed => Object.hasOwn(listed, word)
const known = `one of ${Object.keys(listed).join(', ')}`
