import type { Duration } from './task.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const text = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,3}))?S)?)?$/

/** A duration in milliseconds; undefined if invalid. Years and months have no fixed length, so they are invalid too. */
export function durationMs(duration: Duration): number | undefined {
  if (typeof duration !== 'string') {
    const { days = 0, hours = 0, minutes = 0, seconds = 0, milliseconds = 0 } = duration
    return days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND + milliseconds
  }
  const found = text.exec(duration)
  if (found === null || /[PT]$/.test(duration)) return undefined
  const [weeks, days, hours, minutes, seconds] = found.slice(1, 6).map((each) => Number(each ?? 0))
  const thousandths = Number((found[6] ?? '').padEnd(3, '0'))
  return (
    ((weeks ?? 0) * 7 + (days ?? 0)) * DAY +
    (hours ?? 0) * HOUR +
    (minutes ?? 0) * MINUTE +
    (seconds ?? 0) * SECOND +
    thousandths
  )
}
