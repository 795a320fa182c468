import { printable } from '@skerry/command-line'

import type { ReportProgress } from './report-progress.ts'
import type { TerminalScreen } from './terminal-screen.ts'

const TICK_MS = 120
const TURNS = ['|', '/', '-', '\\'] as const
const BAR_CELLS = 24
const CLEAR = '\r\u001B[K'

export interface ProgressLine {
  readonly label: string
  readonly elapsedMs: number
  /** 0 to 100, if known. */
  readonly percent?: number | undefined
  /** What the operation waits for. */
  readonly waits?: string | undefined
}

/** One line: a bar if the percentage is known, otherwise a spinner; never wider than the terminal. */
export function renderProgress(
  { label, elapsedMs, percent, waits }: ProgressLine,
  columns: number,
): string {
  const time = `${(elapsedMs / 1000).toFixed(1)} s`
  const seconds = waits === undefined ? time : `${time}  waits for ${printable(waits)}`
  const turn = TURNS[Math.floor(elapsedMs / TICK_MS) % TURNS.length]
  if (percent === undefined) return `${turn} ${label}  ${seconds}`.slice(0, columns - 1)
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR_CELLS)
  const bar = `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`
  return `${label}  ${bar} ${Math.floor(percent)} %  ${seconds}`.slice(0, columns - 1)
}

/** Where progress is shown, and the time. */
interface ProgressContext {
  readonly screen: TerminalScreen | undefined
  readonly now: () => number
  readonly wait: (ms: number) => Promise<void>
}

/** Draws a progress line while the work runs and clears it afterwards; without a terminal it only runs the work. */
export async function showProgress<Result>(
  { screen, now, wait }: ProgressContext,
  label: string,
  work: (report: ReportProgress) => Promise<Result>,
): Promise<Result> {
  const began = now()
  let shown: Omit<ProgressLine, 'elapsedMs'> = { label }
  const working = work((percent, doing = label, waits) => {
    shown = { label: doing, percent, waits }
  })
  if (screen === undefined) return working
  const over = working.then(isOver, isOver)
  do {
    const line = renderProgress({ ...shown, elapsedMs: now() - began }, screen.columns)
    screen.write(`${CLEAR}${line}`)
  } while (!(await Promise.race([wait(TICK_MS).then(isNot), over])))
  screen.write(CLEAR)
  return working
}

const isOver = (): boolean => true
const isNot = (): boolean => false
