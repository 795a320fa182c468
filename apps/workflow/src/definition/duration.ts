import { DEFINITION_LIMITS } from './limits.ts'
import type { Duration } from './task.ts'

/** Years and months have no length of their own, so that a wait of one would not be known in advance; weeks and below have. */
const iso =
  /^P(?:(\d{1,9})W)?(?:(\d{1,9})D)?(?:T(?=\d)(?:(\d{1,9})H)?(?:(\d{1,9})M)?(?:(\d{1,9}(?:\.\d{1,3})?)S)?)?$/

const parts = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
  milliseconds: 1,
}

/** A duration that was found to be good, in milliseconds. */
export function milliseconds(duration: Duration): number {
  if (typeof duration !== 'string')
    return Object.entries(parts).reduce(
      (sum, [part, size]) => sum + (duration[part as keyof typeof parts] ?? 0) * size,
      0,
    )
  const [, weeks, days, hours, minutes, seconds] = iso.exec(duration) ?? []
  const inner = { days: number(days) + 7 * number(weeks), hours: number(hours) }
  return milliseconds({ ...inner, minutes: number(minutes), seconds: number(seconds) })
}

const number = (digits: string | undefined): number => Number(digits ?? 0)

/** Why this is no duration that we wait for; undefined: it is one. */
export function whyNotDuration(value: unknown): string | undefined {
  if (typeof value === 'string') {
    if (value === 'P' || !iso.test(value))
      return 'expected a duration such as PT30S or P1DT12H; years and months have no fixed length'
  } else {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return 'expected a duration: PT30S, or a mapping of days, hours, minutes, seconds, milliseconds'
    const entries = Object.entries(value)
    if (entries.length === 0) return 'a duration without any part'
    for (const [part, amount] of entries) {
      if (!Object.hasOwn(parts, part))
        return `a duration has no "${part.slice(0, 40)}"; known: ${Object.keys(parts).join(', ')}`
      if (!Number.isInteger(amount) || (amount as number) < 0)
        return `${part} must be a whole number, 0 or more`
    }
  }
  return milliseconds(value) > DEFINITION_LIMITS.duration
    ? 'longer than 366 days: use a schedule'
    : undefined
}
