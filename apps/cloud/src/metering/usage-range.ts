import { Fault } from '@skerry/fault'

export const usageSteps = ['hour', 'day', 'month'] as const
export type UsageStep = (typeof usageSteps)[number]

/** A time in whole hours of UTC, and the length of its periods. `to` is not part of it. */
export interface UsageRange {
  readonly from: Date
  readonly to: Date
  readonly by: UsageStep
}

export interface UsageInterval {
  readonly from: Date
  readonly to: Date
}

/** A month of hours, or more than two years of days. */
export const PERIODS_MAX = 1000
const HOUR_MS = 3_600_000
const DAY_LENGTH = 'YYYY-MM-DD'.length
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:00(:00(\.0+)?)?Z)?$/

/** What a request asks for. Default: the days of this month. */
export function usageRangeOf(
  requested: { readonly from?: string; readonly to?: string; readonly by?: string },
  now: Date,
): UsageRange {
  const by = usageSteps.find((step) => step === (requested.by ?? 'day'))
  if (by === undefined) throw new Fault('invalid', `by must be one of ${usageSteps.join(', ')}`)
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth())
  const from = requested.from === undefined ? new Date(month) : timeOf('from', requested.from)
  const later = new Date(Math.max(from.getTime(), month))
  const to = requested.to === undefined ? periodEnd(later, 'month') : timeOf('to', requested.to)
  if (from >= to) throw new Fault('invalid', 'from must be before to')
  const range = { from, to, by }
  if (periodsIn(range).length > PERIODS_MAX) {
    throw new Fault('invalid', `there are at most ${PERIODS_MAX} periods in a response`, {
      hint: 'ask for a shorter time, or by=day or by=month',
    })
  }
  return range
}

function timeOf(name: string, written: string): Date {
  const time = new Date(written)
  const isTime = TIME.test(written) && !Number.isNaN(time.getTime())
  // JavaScript takes February 30 for March 2.
  if (isTime && time.toISOString().startsWith(written.slice(0, DAY_LENGTH))) return time
  throw new Fault('invalid', `${name} must be a day or a whole hour in UTC`, {
    hint: 'such as 2026-11-01 or 2026-11-01T12:00:00Z',
  })
}

/** The periods of a range, the first and the last of which may be shorter. One more than the maximum is enough to refuse it. */
export function periodsIn({ from, to, by }: UsageRange): readonly UsageInterval[] {
  const periods: UsageInterval[] = []
  for (let start = from; start < to && periods.length <= PERIODS_MAX;) {
    const end = new Date(Math.min(periodEnd(start, by).getTime(), to.getTime()))
    periods.push({ from: start, to: end })
    start = end
  }
  return periods
}

function periodEnd(time: Date, by: UsageStep): Date {
  if (by === 'hour') return new Date((Math.floor(time.getTime() / HOUR_MS) + 1) * HOUR_MS)
  const [year, month, day] = [time.getUTCFullYear(), time.getUTCMonth(), time.getUTCDate()]
  return new Date(by === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1))
}
