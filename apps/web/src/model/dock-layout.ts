// Where the dock is, and how much of the window it takes.

export interface DockLayout {
  readonly side: 'end' | 'bottom'
  /** Of the window's width or height. */
  readonly percent: number
}

export const PERCENT_MIN = 20
export const PERCENT_MAX = 75
const DEFAULT: DockLayout = { side: 'end', percent: 40 }
const KEY_STEP = 2

const within = (percent: number): number =>
  Math.round(Math.min(PERCENT_MAX, Math.max(PERCENT_MIN, percent)))

/** The layout that the browser remembers; a text that is none is the default. */
export function parseLayout(text: string | null): DockLayout {
  const [, side, percent] = /^(end|bottom) (\d+)$/.exec(text ?? '') ?? []
  if (side === undefined) return DEFAULT
  return { side: side === 'bottom' ? 'bottom' : 'end', percent: within(Number(percent)) }
}

export const formatLayout = ({ side, percent }: DockLayout): string => `${side} ${percent}`

export interface WindowSize {
  readonly width: number
  readonly height: number
  readonly isRightToLeft: boolean
}

/** The layout after the dock's edge was dragged to a point of the window. */
export function dragged(
  { side }: DockLayout,
  point: { readonly x: number; readonly y: number },
  { width, height, isRightToLeft }: WindowSize,
): DockLayout {
  if (side === 'bottom') return { side, percent: within((1 - point.y / height) * 100) }
  const fromStart = point.x / width
  return { side, percent: within((isRightToLeft ? fromStart : 1 - fromStart) * 100) }
}

/** The layout after a key on the dock's edge, which moves in the direction of the arrow; undefined: the key has no meaning there. */
export function movedByKey(
  { side, percent }: DockLayout,
  key: string,
  isRightToLeft: boolean,
): DockLayout | undefined {
  if (key === 'Home') return { side, percent: PERCENT_MIN }
  if (key === 'End') return { side, percent: PERCENT_MAX }
  const grows = side === 'bottom' ? 'ArrowUp' : isRightToLeft ? 'ArrowRight' : 'ArrowLeft'
  const shrinks = side === 'bottom' ? 'ArrowDown' : isRightToLeft ? 'ArrowLeft' : 'ArrowRight'
  if (key === grows) return { side, percent: within(percent + KEY_STEP) }
  if (key === shrinks) return { side, percent: within(percent - KEY_STEP) }
  return undefined
}
