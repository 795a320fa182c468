import { durationMs } from '../definition/duration.ts'
import { DEFINITION_LIMITS } from '../definition/limits.ts'
import type { Duration } from '../definition/task.ts'

const parts = ['days', 'hours', 'minutes', 'seconds', 'milliseconds']

/** Why this is not a supported duration; undefined if it is one. */
export function whyNotDuration(value: unknown): string | undefined {
  const why = typeof value === 'string' ? whyNotText(value) : whyNotParts(value)
  if (why !== undefined) return why
  return (durationMs(value as Duration) ?? 0) > DEFINITION_LIMITS.duration
    ? 'longer than 366 days: use a schedule'
    : undefined
}

const whyNotText = (text: string): string | undefined =>
  text.length > 64 || durationMs(text) === undefined
    ? 'expected a duration such as PT30S or P1DT12H; years and months have no fixed length'
    : undefined

function whyNotParts(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return `expected a duration: PT30S, or a mapping of ${parts.join(', ')}`
  const entries = Object.entries(value)
  if (entries.length === 0) return 'the duration has no parts'
  for (const [part, amount] of entries) {
    if (!parts.includes(part))
      return `unknown duration part "${part.slice(0, 40)}"; known: ${parts.join(', ')}`
    if (!Number.isInteger(amount) || (amount as number) < 0)
      return `${part} must be a whole number, 0 or more`
  }
  return undefined
}
