import type { World } from './command.ts'

const TICK_MS = 120
const TURNS = ['|', '/', '-', '\\'] as const
const BAR_CELLS = 24
const CLEAR = '\r\u001B[K'

export interface Shown {
  readonly label: string
  readonly elapsedMs: number
  /** 0 to 100, when the daemon says it. */
  readonly percent?: number | undefined
}

/** One line: a bar when the percentage is known, a turning bar when it is not; never wider than the terminal. */
export function renderProgress({ label, elapsedMs, percent }: Shown, columns: number): string {
  const seconds = `${(elapsedMs / 1000).toFixed(1)} s`
  const turn = TURNS[Math.floor(elapsedMs / TICK_MS) % TURNS.length]
  if (percent === undefined) return `${turn} ${label}  ${seconds}`.slice(0, columns - 1)
  const full = Math.round((Math.min(100, Math.max(0, percent)) / 100) * BAR_CELLS)
  const bar = `[${'#'.repeat(full)}${'.'.repeat(BAR_CELLS - full)}]`
  return `${label}  ${bar} ${Math.floor(percent)} %  ${seconds}`.slice(0, columns - 1)
}

/** How far the work is, where it knows, and what it is doing now, in place of the label. */
export type Tell = (percent: number | undefined, doing?: string) => void

/** Draws on the terminal while the work goes on, and leaves nothing behind; without one only works. */
export async function showProgress<Result>(
  { screen, now, wait }: Pick<World, 'screen' | 'now' | 'wait'>,
  label: string,
  work: (tell: Tell) => Promise<Result>,
): Promise<Result> {
  const began = now()
  let shown: Pick<Shown, 'label' | 'percent'> = { label }
  const working = work((percent, doing = label) => (shown = { label: doing, percent }))
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
