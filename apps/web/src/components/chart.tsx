// A line chart of some hundred points as SVG: it follows the theme, and a screen reader reads it as a sentence.
import { useState, type PointerEvent } from 'react'

import { formatClock, formatDecimal } from '../text/format.ts'
import { segmentsOf, type ChartSegment } from './chart-segments.ts'

import style from './chart.module.css'

export interface ChartSeries {
  readonly name: string
  /** null: not known, a gap in the line. */
  readonly values: readonly (number | null)[]
}
interface ChartProps {
  readonly title: string
  /** For the default of `format`. */
  readonly unit?: string
  readonly series: readonly ChartSeries[]
  readonly stepSeconds: number
  readonly until: string
  /** The value at the top; default: the next round number above all values. */
  readonly max?: number
  /** The least value at the top, so that a little noise does not look like a lot; default: 0.1. */
  readonly least?: number
  /** Writes a value; default: the number and its unit. */
  readonly format?: (value: number) => string
  /** Writes a time in milliseconds; default: the time of day. */
  readonly formatTime?: (ms: number) => string
  /** The index under the pointer, which the charts of a page share. */
  readonly cursor?: number | undefined
  readonly onCursor?: (index: number | undefined) => void
}

const WIDTH = 300
const HEIGHT = 76

const knownIn = (values: readonly (number | null)[]): readonly number[] =>
  values.filter((value) => value !== null)

interface TraceProps {
  readonly segment: ChartSegment
  readonly hasArea: boolean
  readonly x: (index: number) => number
  readonly y: (value: number) => number
}

/** One run of known values. A single one is a dot: a line of no length with round ends. */
function Trace({ segment: { start, values }, hasArea, x, y }: TraceProps) {
  const points = values.map((value, at) => `${x(start + at).toFixed(1)} ${y(value).toFixed(1)}`)
  const trace = `M${points.join('L')}${points.length === 1 ? 'h0' : ''}`
  const end = x(start + values.length - 1)
  return (
    <>
      {hasArea && values.length > 1 && (
        <path className={style['area']} d={`${trace}L${end} ${HEIGHT}L${x(start)} ${HEIGHT}Z`} />
      )}
      <path className={style['trace']} d={trace} />
    </>
  )
}

/** The next 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)))
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value) ?? value
}

export function Chart({
  title,
  unit = '',
  series,
  stepSeconds,
  until,
  max,
  least = 0.1,
  format = (value) => `${formatDecimal(value)} ${unit}`,
  formatTime = formatClock,
  cursor,
  onCursor,
}: ChartProps) {
  const [own, setOwn] = useState<number>()
  const length = Math.max(2, ...series.map(({ values }) => values.length))
  const top = max ?? roundUp(Math.max(least, ...series.flatMap(({ values }) => knownIn(values))))
  const written = (value: number | null | undefined): string =>
    value === null || value === undefined ? 'not known' : format(value)
  const x = (index: number): number => (index / (length - 1)) * WIDTH
  const y = (value: number): number => HEIGHT - (Math.min(value, top) / top) * (HEIGHT - 4)
  const selected = cursor ?? own
  const move = (event: PointerEvent<SVGSVGElement>): void => {
    const box = event.currentTarget.getBoundingClientRect()
    const index = Math.round(((event.clientX - box.left) / box.width) * (length - 1))
    ;(onCursor ?? setOwn)(Math.max(0, Math.min(length - 1, index)))
  }
  const end = Date.parse(until)
  const when = (index: number): string =>
    formatTime(end - (length - 1 - index) * stepSeconds * 1000)
  const summary = series
    .map(({ name, values }) => {
      const known = knownIn(values)
      const most = known.length === 0 ? '' : `, at most ${format(Math.max(...known))}`
      return `${name}: now ${written(values.at(-1))}${most}`
    })
    .join('; ')
  return (
    <figure className={style['chart']}>
      <figcaption className={style['head']}>
        <span className={style['title']}>{title}</span>
        {series.map(({ name, values }, index) => (
          <span
            key={name}
            className={`${style['value']} ${index === 0 ? style['first'] : style['second']}`}
          >
            <span className={series.length > 1 ? style['key'] : ''}>
              {series.length > 1 ? `${name} ` : ''}
            </span>
            {written(values[selected ?? values.length - 1])}
          </span>
        ))}
      </figcaption>
      <svg
        className={style['plot']}
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${title}. ${summary}`}
        onPointerMove={move}
        onPointerLeave={() => (onCursor ?? setOwn)(undefined)}
      >
        {[0.5, 1].map((share) => (
          <line
            key={share}
            className={style['grid']}
            x1={0}
            x2={WIDTH}
            y1={y(top * share)}
            y2={y(top * share)}
          />
        ))}
        <line className={style['grid']} x1={0} x2={WIDTH} y1={HEIGHT} y2={HEIGHT} />
        {series.map(({ name, values }, index) => (
          <g key={name} className={index === 0 ? style['first'] : style['second']}>
            {segmentsOf(values).map((segment) => (
              <Trace key={segment.start} segment={segment} hasArea={index === 0} x={x} y={y} />
            ))}
          </g>
        ))}
        {selected !== undefined && (
          <line className={style['cross']} x1={x(selected)} x2={x(selected)} y1={0} y2={HEIGHT} />
        )}
      </svg>
      <div className={style['axis']} aria-hidden="true">
        <span>{when(0)}</span>
        <span>{selected === undefined ? `max. ${format(top)}` : when(selected)}</span>
        <span>{when(length - 1)}</span>
      </div>
    </figure>
  )
}
