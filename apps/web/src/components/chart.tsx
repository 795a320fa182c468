// A line chart of some hundred points as SVG: it follows the theme, and a screen reader reads it as a sentence.
import { useState, type PointerEvent } from 'react'

import { formatClock, formatDecimal } from '../text/format.ts'

import style from './chart.module.css'

export interface ChartSeries {
  readonly name: string
  readonly values: readonly number[]
}
interface ChartProps {
  readonly title: string
  readonly unit: string
  readonly series: readonly ChartSeries[]
  readonly stepSeconds: number
  readonly until: string
  /** The value at the top; default: the next round number above all values. */
  readonly max?: number
  /** Writes a value; default: the number and its unit. */
  readonly format?: (value: number) => string
  /** The index under the pointer, which the charts of a page share. */
  readonly cursor?: number | undefined
  readonly onCursor?: (index: number | undefined) => void
}

const WIDTH = 300
const HEIGHT = 76

/** The next 1, 2 or 5 times a power of ten. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)))
  return [1, 2, 5, 10].map((each) => each * power).find((each) => each >= value) ?? value
}

export function Chart({
  title,
  unit,
  series,
  stepSeconds,
  until,
  max,
  format = (value) => `${formatDecimal(value)} ${unit}`,
  cursor,
  onCursor,
}: ChartProps) {
  const [own, setOwn] = useState<number>()
  const length = Math.max(2, ...series.map(({ values }) => values.length))
  const top = max ?? roundUp(Math.max(0.1, ...series.flatMap(({ values }) => values)))
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
    formatClock(end - (length - 1 - index) * stepSeconds * 1000)
  const summary = series
    .map(
      ({ name, values }) =>
        `${name}: now ${format(values.at(-1) ?? 0)}, at most ${format(Math.max(0, ...values))}`,
    )
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
            {format(values[selected ?? values.length - 1] ?? 0)}
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
        {series.map(({ name, values }, index) => {
          const trace = values
            .map(
              (value, each) =>
                `${each === 0 ? 'M' : 'L'}${x(each).toFixed(1)} ${y(value).toFixed(1)}`,
            )
            .join('')
          return (
            <g key={name} className={index === 0 ? style['first'] : style['second']}>
              {values.length > 1 && index === 0 && (
                <path
                  className={style['area']}
                  d={`${trace}L${x(values.length - 1)} ${HEIGHT}L0 ${HEIGHT}Z`}
                />
              )}
              <path className={style['trace']} d={trace} />
            </g>
          )
        })}
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
