import { planReach, type ReachBox, type ReachLine } from '../../model/networks/reach-layout.ts'
// The drawing of who reaches whom. Screen readers have the table beside it instead.
import type { ReachFacts } from '../../model/networks/reach.ts'
import { en } from '../../text/en.ts'

import style from './drawing.module.css'

const LETTER = 7.2
const LINE = 18

/** Shortens a text to the room that it has. */
const fit = (text: string, room: number): string => {
  const most = Math.max(3, Math.floor(room / LETTER))
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

interface ReachDrawingProps {
  readonly facts: ReachFacts
  readonly title: string
}

export function ReachDrawing({ facts, title }: ReachDrawingProps) {
  const { width, height, boxes, lines } = planReach(facts, en.reach)
  return (
    <div className={style['scroller']} role="region" aria-label="Drawing" tabIndex={0}>
      <svg
        className={style['drawing']}
        role="img"
        aria-label={`Who reaches whom in ${title}; the table has the same content`}
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
      >
        {lines.map((line) => (
          <Line key={line.key} line={line} />
        ))}
        {boxes.map((box) => (
          <Box key={box.key} box={box} />
        ))}
      </svg>
    </div>
  )
}

/** Where a line ends: an arrow reaches the box, a cross stands before it. */
function Line({ line }: { readonly line: ReachLine }) {
  const { x1, y1, x2, y2, passage, label } = line
  const end = passage === 'plain' ? x2 : x2 - (passage === 'blocked' ? 22 : 8)
  return (
    <g className={style['line']} data-passage={passage}>
      {label !== '' && <title>{label}</title>}
      <path d={`M${x1} ${y1}L${end} ${y2}`} />
      {passage === 'blocked' && <path d={`M${end - 6} ${y2 - 6}l12 12m0 -12l-12 12`} />}
      {(passage === 'open' || passage === 'some') && (
        <path className={style['tip']} d={`M${x2} ${y2}l-9 -5v10z`} />
      )}
      {label !== '' && (
        <text x={x1 + 10} y={y1 - 6}>
          {fit(label, x2 - x1 - 26)}
        </text>
      )}
    </g>
  )
}

function Box({ box }: { readonly box: ReachBox }) {
  const { x, y, width, height, texts, kind } = box
  const top = y + height / 2 - ((texts.length - 1) * LINE) / 2 + 4
  return (
    <g className={style['box']} data-kind={kind}>
      <title>{texts.map(({ text }) => text).join(', ')}</title>
      <rect x={x} y={y} width={width} height={height} rx={8} />
      {texts.map(({ text, tone }, at) => (
        <text key={text} data-tone={tone} x={x + 12} y={top + at * LINE}>
          {fit(text, width - 20)}
        </text>
      ))}
    </g>
  )
}
