import { useSyncExternalStore } from 'react'

import { now } from '../api/clock-and-ids.ts'
import { formatDateTime, formatRelative } from '../text/format.ts'

const TICK_MS = 15_000
let current = 0
const listeners = new Set<() => void>()
setInterval(() => {
  if (document.visibilityState === 'hidden') return
  current = now()
  for (const listener of listeners) listener()
}, TICK_MS)

const subscribe = (listener: () => void): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** '3 min ago', kept up to date by one clock for the page; the full time is its tooltip. */
export function RelativeTime({ time }: { readonly time: string }) {
  const clock = useSyncExternalStore(subscribe, () => (current ||= now()))
  // Clocks differ: what has just happened is not in the future.
  const isJustNow = Math.abs(Date.parse(time) - clock) < 2 * TICK_MS
  return (
    <time dateTime={time} title={formatDateTime(time)}>
      {formatRelative(time, isJustNow ? Math.max(clock, Date.parse(time)) : clock)}
    </time>
  )
}
