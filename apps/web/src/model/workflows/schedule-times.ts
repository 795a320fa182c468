// When a schedule starts its workflow: at the times of a cron expression, or at an interval.

/** As the workflow server takes it. */
export type ScheduleTimes =
  | { readonly cron: string; readonly 'time-zone': string }
  | { readonly 'every-seconds': number }

export const intervalUnits = {
  minutes: 60,
  hours: 3600,
  days: 86_400,
} as const
export type IntervalUnit = keyof typeof intervalUnits

/** The limits of the workflow server. */
const SECONDS_LEAST = 10
const SECONDS_MOST = 366 * 86_400

/** What the fields contain, also those that are not shown. */
export interface TimesForm {
  readonly kind: 'cron' | 'interval'
  readonly cron: string
  readonly zone: string
  /** As it was typed. */
  readonly amount: string
  readonly unit: IntervalUnit
}

export const newTimes = (zone: string): TimesForm => ({
  kind: 'cron',
  cron: '0 3 * * *',
  zone,
  amount: '2',
  unit: 'hours',
})

export const timesOf = ({ kind, cron, zone, amount, unit }: TimesForm): ScheduleTimes =>
  kind === 'cron'
    ? { cron, 'time-zone': zone }
    : { 'every-seconds': Math.round(Number(amount) * intervalUnits[unit]) }

export function whyNotTimes(times: ScheduleTimes): string | undefined {
  if ('cron' in times) return times.cron.trim() === '' ? 'the schedule needs times' : undefined
  const seconds = times['every-seconds']
  if (!Number.isFinite(seconds) || seconds < SECONDS_LEAST)
    return `the interval must be at least ${SECONDS_LEAST} s`
  return seconds > SECONDS_MOST ? 'the interval must be at most 366 days' : undefined
}
