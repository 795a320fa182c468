import { Failure } from './failure.ts'

/** Parses an option that is a positive integer. */
export function wholeNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text)
  throw new Failure('usage', `${option} must be a whole number above 0, not ${text}`)
}

const SIZE = /^([1-9]\d{0,9})(M|MiB|G|GiB|T|TiB)?$/i
const FACTOR: Readonly<Record<string, number>> = { m: 1, g: 1024, t: 1024 * 1024 }

/** Parses `512`, `512M` and `2G`; returns MiB. */
export function sizeMiB(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = 'M'] = SIZE.exec(text) ?? []
  const factor = FACTOR[unit.charAt(0).toLowerCase()]
  if (count !== undefined && factor !== undefined) return Number(count) * factor
  throw new Failure('usage', `${option} must be a size like 512M or 2G, not ${text}`)
}

/** Parses an option that is a whole number from 0 on. */
export function countingNumber(option: string, text: string | undefined): number | undefined {
  return text === '0' ? 0 : wholeNumber(option, text)
}
