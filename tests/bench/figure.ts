/** One line of a benchmark's result; with --json exactly this is printed. */
export interface Figure {
  readonly name: string
  /** Ours ÷ bare. */
  readonly ratio: number
  readonly goal: string
  readonly met: boolean
  readonly ours: number
  readonly bare: number
  readonly unit: string
}

/** What is compared, and how good we mean to be. */
export interface Aim {
  readonly name: string
  readonly unit: 'calls/s' | 'ms'
  readonly atLeast?: number
  readonly atMost?: number
}

type Measure = () => Promise<number>

/**
 * Measures both sides in turn, so that whatever else the machine does falls on both alike; each
 * goes first in every second pair. The first pairs only warm up. The medians are compared.
 */
export async function compare(
  aim: Aim,
  pairs: number,
  ours: Measure,
  bare: Measure,
): Promise<Figure> {
  const measured = { ours: [] as number[], bare: [] as number[] }
  for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
    const sides = [['ours', ours] as const, ['bare', bare] as const]
    for (const [side, measure] of pair % 2 === 0 ? sides : sides.toReversed()) {
      const value = await measure()
      if (pair >= 0) measured[side].push(value)
    }
  }
  return toFigure(aim, median(measured.ours), median(measured.bare))
}

const WARM_UP_PAIRS = 3

function toFigure({ name, unit, atLeast, atMost }: Aim, ours: number, bare: number): Figure {
  const ratio = round(ours / bare)
  const met =
    (atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost)
  const goal = atLeast === undefined ? `≤ ${atMost}` : `≥ ${atLeast}`
  return { name, ratio, goal, met, ours: round(ours), bare: round(bare), unit }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const [low = Number.NaN, high = low] = [
    sorted[Math.floor((sorted.length - 1) / 2)],
    sorted[Math.floor(sorted.length / 2)],
  ]
  return (low + high) / 2
}

const round = (value: number): number => Math.round(value * 1000) / 1000
