// Values of columns, as RFC 7047 writes them in JSON (section 5.1).

/** A scalar. Integers beyond ±2^53 lose digits: JSON numbers are read as JavaScript's. */
export type OvsdbAtom =
  | string
  | number
  | boolean
  | readonly ['uuid', string]
  | readonly ['named-uuid', string]

/** A scalar, a set or a map. The server writes a set of one element as the element. */
export type OvsdbValue =
  | OvsdbAtom
  | readonly ['set', readonly OvsdbAtom[]]
  | readonly ['map', readonly (readonly [OvsdbAtom, OvsdbAtom])[]]

/** A row, or some of its columns, by their names. */
export type OvsdbRow = Readonly<Record<string, OvsdbValue>>

export const uuid = (id: string): OvsdbAtom => ['uuid', id]

/** A row that the same transaction inserts with this `uuid-name`. */
export const namedUuid = (name: string): OvsdbAtom => ['named-uuid', name]

export const set = (atoms: readonly OvsdbAtom[]): OvsdbValue => ['set', atoms]

export const map = (entries: Readonly<Record<string, OvsdbAtom>>): OvsdbValue => [
  'map',
  Object.entries(entries),
]

/** The id of a row, from a reference to it. */
export function uuidOf(value: OvsdbValue | undefined): string {
  if (Array.isArray(value) && value[0] === 'uuid' && typeof value[1] === 'string') return value[1]
  throw new TypeError(`${JSON.stringify(value)} is not a UUID`)
}

/** The elements of a set. A single value is a set of one. */
export function setOf(value: OvsdbValue | undefined): readonly OvsdbAtom[] {
  if (value === undefined) throw new TypeError('the column is missing')
  if (!Array.isArray(value) || value[0] === 'uuid' || value[0] === 'named-uuid') {
    return [value as OvsdbAtom]
  }
  if (value[0] === 'set' && Array.isArray(value[1])) return value[1] as OvsdbAtom[]
  throw new TypeError(`${JSON.stringify(value)} is not a set`)
}

/** The entries of a map whose keys are texts. */
export function mapOf(value: OvsdbValue | undefined): ReadonlyMap<string, OvsdbAtom> {
  if (Array.isArray(value) && value[0] === 'map' && Array.isArray(value[1])) {
    return new Map(value[1] as [string, OvsdbAtom][])
  }
  throw new TypeError(`${JSON.stringify(value)} is not a map`)
}

/** A text that is equal for equal values: order is without meaning in sets and maps, and a set of one is its element. */
export function canonical(value: OvsdbValue): string {
  if (Array.isArray(value) && (value[0] === 'set' || value[0] === 'map')) {
    const elements = [...new Set((value[1] as unknown[]).map((each) => JSON.stringify(each)))]
    if (value[0] === 'set' && elements.length === 1) return elements[0] ?? ''
    return `["${value[0]}",[${elements.toSorted().join(',')}]]`
  }
  return JSON.stringify(value)
}
