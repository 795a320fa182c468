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
  /** The lower and the upper quartile of the pairs' own ratios. */
  readonly spread: readonly [number, number]
  /** Whether that spread lies on the same side of the goal as the ratio; otherwise noise hides on which we are. */
  readonly clear: boolean
}

/** What is compared, and how good we mean to be. */
export interface Aim {
  readonly name: string
  readonly unit:
    | `${'calls' | 'requests' | 'operations' | 'runs'}/${'' | 'CPU '}s`
    | 'ms'
    | 'MiB/s'
    | 'KiB'
  readonly atLeast?: number
  readonly atMost?: number
  /** Instead of `atMost`: by how much ours may be more, in the unit. What is small costs a fixed sum, whatever the ratio. */
  readonly orMoreBy?: number
}

type Measure = () => Promise<number>
/** One value for each of several aims, all from the same work. */
type MeasureAll = () => Promise<readonly number[]>

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
  const figures = await compareAll(
    [aim],
    pairs,
    async () => [await ours()],
    async () => [await bare()],
  )
  return figures[0] as Figure
}

export async function compareAll(
  aims: readonly Aim[],
  pairs: number,
  ours: MeasureAll,
  bare: MeasureAll,
): Promise<Figure[]> {
  const measured = { ours: [] as (readonly number[])[], bare: [] as (readonly number[])[] }
  for (let pair = -WARM_UP_PAIRS; pair < pairs; pair += 1) {
    const sides = [['ours', ours] as const, ['bare', bare] as const]
    for (const [side, measure] of pair % 2 === 0 ? sides : sides.toReversed()) {
      const values = await measure()
      if (pair >= 0) measured[side].push(values)
    }
  }
  return aims.map((aim, at) => {
    const of = (side: 'ours' | 'bare') => measured[side].map((values) => values[at] ?? Number.NaN)
    return toFigure(aim, of('ours'), of('bare'))
  })
}

const WARM_UP_PAIRS = 3

function toFigure(
  { name, unit, atLeast, atMost, orMoreBy }: Aim,
  allOurs: readonly number[],
  allBare: readonly number[],
): Figure {
  const [ours, bare] = [quantile(allOurs, 0.5), quantile(allBare, 0.5)]
  const meets = (ratio: number, more: number) =>
    (orMoreBy !== undefined && more <= orMoreBy) ||
    ((atLeast === undefined || ratio >= atLeast) && (atMost === undefined || ratio <= atMost))
  const ratio = round(ours / bare)
  const met = meets(ratio, ours - bare)
  const ratios = allOurs.map((value, at) => value / (allBare[at] ?? Number.NaN))
  const mores = allOurs.map((value, at) => value - (allBare[at] ?? Number.NaN))
  const ends = [0.25, 0.75] as const
  const [low = 0, high = 0] = ends.map((end) => round(quantile(ratios, end)))
  const clear = ends.every((end) => meets(quantile(ratios, end), quantile(mores, end)) === met)
  const most = `≤ ${atMost}${orMoreBy === undefined ? '' : ` or ≤ +${orMoreBy} ${unit}`}`
  const bound = atMost === undefined ? 'none' : most
  const goal = atLeast === undefined ? bound : `≥ ${atLeast}`
  return {
    ...{ name, ratio, goal, met, ours: round(ours), bare: round(bare), unit },
    ...{ spread: [low, high], clear },
  }
}

/** The value below which this part of all values lies; between two of them where it falls between. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

const round = (value: number): number => Math.round(value * 1000) / 1000
