// The filter of a list of VMs as the user types it: `web* vapp:shop mem>4g`. Bare words are looked up in names.
import { statusWord, type DisplayedPower } from './power.ts'

export interface FilterTerm {
  /** A column of the query service. */
  readonly column: string
  readonly operator: '==' | '!=' | '=gt=' | '=lt='
  readonly value: string
}

export interface ParsedFilter {
  readonly terms: readonly FilterTerm[]
  /** Words that look like a term and are none; they are shown, and not sent. */
  readonly unknown: readonly string[]
}

interface FilterColumn {
  readonly column: string
  readonly kind: 'text' | 'number' | 'size'
}

const columns: Readonly<Record<string, FilterColumn>> = {
  name: { column: 'name', kind: 'text' },
  vapp: { column: 'containerName', kind: 'text' },
  vdc: { column: 'vdcName', kind: 'text' },
  org: { column: 'orgName', kind: 'text' },
  host: { column: 'hostName', kind: 'text' },
  ip: { column: 'ipAddress', kind: 'text' },
  cpu: { column: 'numberOfCpus', kind: 'number' },
  mem: { column: 'memoryMB', kind: 'size' },
  disk: { column: 'diskMB', kind: 'size' },
}

/** Columns that only administrators of the cloud can query. */
const administrative = new Set(['org', 'host'])

const TERM = /^(-?)([a-z]+)([:=><])(.+)$/i
const SIZE = /^(\d+)([mgt]?)$/i
const MIB: Readonly<Record<string, number>> = { '': 1, m: 1, g: 1024, t: 1024 ** 2 }

export function parseFilter(text: string, isAdministrator = false): ParsedFilter {
  const words = text.split(/\s+/).filter((word) => word !== '')
  const parsed = words.map((word) => ({ word, term: parseTerm(word, isAdministrator) }))
  return {
    terms: parsed.flatMap(({ term }) => (term ? [term] : [])),
    unknown: parsed.flatMap(({ word, term }) => (term ? [] : [word])),
  }
}

function parseTerm(word: string, isAdministrator: boolean): FilterTerm | undefined {
  const [, not = '', key = '', sign = '', value = ''] = TERM.exec(word) ?? []
  if (key === '')
    return { column: 'name', operator: '==', value: word.includes('*') ? word : `*${word}*` }
  const known = columns[key.toLowerCase()]
  if (!known || (administrative.has(key) && !isAdministrator)) return undefined
  const compares = sign === '>' || sign === '<'
  if (compares && (known.kind === 'text' || not !== '')) return undefined
  const operator = sign === '>' ? '=gt=' : sign === '<' ? '=lt=' : not === '' ? '==' : '!='
  const read = readValue(known.kind, value)
  return read === undefined ? undefined : { column: known.column, operator, value: read }
}

function readValue(kind: FilterColumn['kind'], value: string): string | undefined {
  if (kind === 'text') return value
  if (kind === 'number') return /^\d+$/.test(value) ? value : undefined
  const [, digits, unit = ''] = SIZE.exec(value) ?? []
  return digits === undefined ? undefined : String(Number(digits) * (MIB[unit.toLowerCase()] ?? 1))
}

/** A backslash escapes the characters that the language itself uses. */
export const escapedValue = (value: string): string =>
  value.replaceAll(/[\\;,()]/g, String.raw`\$&`)

/** The filter in the language of the query service. */
export function queryFilter(terms: readonly FilterTerm[], power: DisplayedPower | ''): string {
  const status = power === '' ? undefined : statusWord[power]
  return [
    ...(status === undefined ? [] : [`status==${status}`]),
    ...terms.map(({ column, operator, value }) => `${column}${operator}${escapedValue(value)}`),
  ].join(';')
}

/** A filter by part of a name, for lists that are filtered by name only. */
export const nameFilter = (text: string): string =>
  text.trim() === '' ? '' : queryFilter(parseFilter(text.trim().split(/\s+/)[0] ?? '').terms, '')
