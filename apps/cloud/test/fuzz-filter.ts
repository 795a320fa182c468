// Random filters from a seed. The meaning of each is known before it is rendered, so that plain JavaScript can compute its matches.
import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'

/** A row as the test oracle sees it. */
export interface Known {
  readonly org: string
  readonly id: string
  readonly name: string
  readonly containerName: string
  readonly container: string
  readonly vdc: string
  readonly status: string
  readonly numberOfCpus: number
  readonly memoryMB: number
  readonly isDeployed: boolean
}

export interface Fuzzed {
  /** The text that a client sends. */
  readonly text: string
  /** `cased`: == without a wildcard is case-sensitive, as since version 5.1. */
  readonly fits: (row: Known, cased: boolean) => boolean
}

/** Random numbers from 0 to 1, the same for the same seed. */
export const chance = (seed: number): (() => number) => seededRandom(seed).fraction

export const pick = <T>(draw: () => number, from: readonly T[]): T =>
  from[Math.floor(draw() * from.length)] as T

/** `rows`: the source of the values in filters, including foreign rows: their values must not find foreign rows. */
export function fuzzFilter(draw: () => number, rows: readonly Known[], base: string): Fuzzed {
  const any = (depth: number): Fuzzed => {
    const parts = Array.from({ length: 1 + Math.floor(draw() * draw() * 4) }, () => all(depth))
    return {
      text: parts.map(({ text }) => text).join(','),
      fits: (row, cased) => parts.some((each) => each.fits(row, cased)),
    }
  }
  const all = (depth: number): Fuzzed => {
    const parts = Array.from({ length: 1 + Math.floor(draw() * draw() * 4) }, () => term(depth))
    return {
      text: parts.map(({ text }) => text).join(';'),
      fits: (row, cased) => parts.every((each) => each.fits(row, cased)),
    }
  }
  const term = (depth: number): Fuzzed => {
    if (depth > 3 || draw() < 0.75) return comparison(draw, pick(draw, rows), base)
    const { text, fits } = any(depth + 1)
    return { text: `(${text})`, fits }
  }
  return any(0)
}

const escaped = (value: string): string => value.replaceAll(/[\\(),;*]/g, '\\$&')
const small = (value: string): string => value.toLowerCase()

function comparison(draw: () => number, row: Known, base: string): Fuzzed {
  const kind = draw()
  if (kind < 0.55) return texts(draw, row, pick(draw, ['name', 'name', 'containerName', 'status']))
  if (kind < 0.75) return numbers(draw, row, pick(draw, ['numberOfCpus', 'memoryMB']))
  if (kind < 0.87) return references(draw, row, pick(draw, ['container', 'vdc', 'id']), base)
  const [field, said] = [pick(draw, ['isDeployed', 'isVAppTemplate']), draw() < 0.5]
  const equal = draw() < 0.7
  return {
    text: `${field}${equal ? '==' : '!='}${said}`,
    fits: (each) => ((field === 'isDeployed' ? each.isDeployed : false) === said) === equal,
  }
}

const ODD = [
  '',
  '%',
  '_',
  '\\',
  "'",
  '"',
  'ä',
  'Ä',
  '%%',
  '__',
  "' or true --",
  '()',
  'x',
  '-prod-',
  'WEB',
]

function texts(draw: () => number, row: Known, field: 'name' | 'containerName' | 'status'): Fuzzed {
  let value = row[field]
  if (draw() < 0.15) value = pick(draw, ODD)
  if (draw() < 0.2) value = draw() < 0.5 ? value.toUpperCase() : small(value)
  if (draw() < 0.4) {
    const from = Math.floor(draw() * value.length)
    const to = from + Math.floor(draw() * (value.length - from)) + 1
    const parts = [
      value.slice(0, from),
      ...(draw() < 0.4 ? [value.slice(from, to)] : []),
      value.slice(to),
    ]
    if (draw() < 0.3) parts.unshift('')
    const form = new RegExp(`^${parts.map((part) => RegExp.escape(small(part))).join('.*')}$`, 's')
    return {
      text: `${field}==${parts.map(escaped).join('*')}`,
      fits: (each) => form.test(small(each[field])),
    }
  }
  const equal = draw() < 0.75
  return {
    text: `${field}${equal ? '==' : '!='}${escaped(value)}`,
    fits: (each, cased) =>
      (cased ? each[field] === value : small(each[field]) === small(value)) === equal,
  }
}

function numbers(draw: () => number, row: Known, field: 'numberOfCpus' | 'memoryMB'): Fuzzed {
  const value = row[field] + (draw() < 0.3 ? 1 : 0)
  const signs: Readonly<Record<string, (one: number) => boolean>> = {
    '==': (one) => one === value,
    '!=': (one) => one !== value,
    '=lt=': (one) => one < value,
    '=le=': (one) => one <= value,
    '=gt=': (one) => one > value,
    '=ge=': (one) => one >= value,
  }
  const sign = pick(draw, Object.keys(signs))
  return { text: `${field}${sign}${value}`, fits: (each) => signs[sign]?.(each[field]) ?? false }
}

const prefixes = { container: '/api/vApp/vapp-', vdc: '/api/vdc/', id: '/api/vApp/vm-' } as const

function references(
  draw: () => number,
  row: Known,
  field: 'container' | 'vdc' | 'id',
  base: string,
): Fuzzed {
  const equal = draw() < 0.8
  const value = row[field]
  return {
    text: `${field === 'id' ? 'href' : field}${equal ? '==' : '!='}${base}${prefixes[field]}${value}`,
    fits: (each) => (each[field] === value) === equal,
  }
}

const SIGNS = [
  '(',
  ')',
  ',',
  ';',
  '\\',
  '*',
  '=',
  '==',
  '!',
  '=lt=',
  'name',
  '\0',
  '\u2028',
  '%',
  ' ',
]

/** The same with syntax errors: none may lead to an internal error. */
export function spoil(draw: () => number, text: string): string {
  let spoilt = text
  for (let times = 1 + Math.floor(draw() * 3); times > 0; times -= 1) {
    const at = Math.floor(draw() * (spoilt.length + 1))
    const without = draw() < 0.5 ? 1 : 0
    spoilt =
      spoilt.slice(0, at) + (draw() < 0.7 ? pick(draw, SIGNS) : '') + spoilt.slice(at + without)
  }
  return spoilt
}
