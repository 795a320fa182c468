// The log of a run as its page keeps it: the newest lines, and of all lines the times of their steps.
import type { RunLogEntry } from '../../api/workflows.ts'

/** A table of more lines makes the page slow. */
const LINES_SHOWN = 1000

interface StepTimes {
  readonly began: string
  readonly ended: string
}

export interface KeptLog {
  /** The newest, oldest first. */
  readonly lines: readonly RunLogEntry[]
  /** How many older lines are not shown. */
  readonly leftOut: number
  /** By the place of the step. */
  readonly times: ReadonlyMap<string, StepTimes>
  /** The number of the newest line; 0: none. */
  readonly newest: number
}

export const emptyLog: KeptLog = { lines: [], leftOut: 0, times: new Map(), newest: 0 }

/** The log with these lines after it. Lines that it has already are passed over: a reader and a stream may both bring them. */
export function withLines(log: KeptLog, entries: readonly RunLogEntry[]): KeptLog {
  const added = entries.filter(({ number }) => number > log.newest)
  const last = added.at(-1)
  if (!last) return log
  const times = new Map(log.times)
  for (const { origin, 'time-stamp': at } of added) {
    times.set(origin, { began: times.get(origin)?.began ?? at, ended: at })
  }
  const all = [...log.lines, ...added]
  const more = Math.max(0, all.length - LINES_SHOWN)
  return { lines: all.slice(more), leftOut: log.leftOut + more, times, newest: last.number }
}
