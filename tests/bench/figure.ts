/** One line of a benchmark's result; with --json exactly this is printed. */
export interface Figure {
  readonly name: string
  /** Ours ÷ baseline. */
  readonly ratio: number
  readonly goal: string
  readonly met: boolean
  readonly ours: number
  readonly bare: number
  readonly unit: string
  /** The lower and the upper quartile of the pairs' own ratios. */
  readonly spread: readonly [number, number]
  /** Whether that spread lies on the same side of the goal as the ratio; otherwise the result is within the noise. */
  readonly clear: boolean
}

/** What is compared, and the goal. */
export interface Aim {
  readonly name: string
  readonly unit:
    | `${'calls' | 'requests' | 'operations' | 'runs'}/${'' | 'CPU '}s`
    | 'ms'
    | 'MiB/s'
    | 'KiB'
  readonly atLeast?: number
  readonly atMost?: number
  /** Instead of `atMost`: the allowed difference, in the unit. For small values the overhead is a constant, whatever the ratio. */
  readonly orMoreBy?: number
}

type Measure = () => Promise<number>
/** One value for each of several goals, all from the same work. */
type MeasureAll = () => Promise<readonly number[]>

/**
 * Measures both sides alternately, so that other load of the machine affects both; each goes first in every second pair. The
 * first pairs are warm-up. The medians are compared.
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
    name,
    ratio,
    goal,
    met,
    ours: round(ours),
    bare: round(bare),
    unit,
    spread: [low, high],
    clear,
  }
}

/** The quantile of all values, interpolated. */
function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) * part
  const [low = Number.NaN, high = low] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return low + (high - low) * (place - Math.floor(place))
}

const round = (value: number): number => Math.round(value * 1000) / 1000
