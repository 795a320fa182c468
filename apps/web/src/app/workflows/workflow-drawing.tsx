// The drawing of a workflow: steps, and the arrows between them. Screen readers have the list of steps instead.
import type { DrawingDocument, DrawnColumn, DrawnStep } from '../../api/workflows.ts'
import { workflowText } from '../../text/workflows.ts'

import style from './workflow-drawing.module.css'

const MARGIN = 20
const DOT = 8
const GAP = 34
const LETTER = 7.4

const tip = {
  down: (x: number, y: number) => `M${x} ${y}l-5 -8h10z`,
  left: (x: number, y: number) => `M${x} ${y}l8 -5v10z`,
  right: (x: number, y: number) => `M${x} ${y}l-8 -5v10z`,
}

/** Shortens a text to the room that it has. */
const fit = (text: string, room: number): string => {
  const most = Math.max(3, Math.floor(room / LETTER))
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`
}

export function WorkflowDrawing({ drawing }: { readonly drawing: DrawingDocument }) {
  const { column, title } = drawing
  const top = MARGIN + 2 * DOT + GAP
  const centre = MARGIN + Math.max(column.centre, 60)
  const width = Math.max(centre + column.width - column.centre + MARGIN, 2 * centre)
  const bottom = top + column.height + GAP
  const isOpen = column.steps.at(-1)?.leadsOn ?? true
  return (
    <div className={style['scroller']} role="region" aria-label="Drawing" tabIndex={0}>
      <svg
        className={style['drawing']}
        role="img"
        aria-label={`Drawing of ${title}; the list of steps has the same content`}
        viewBox={`0 0 ${width} ${bottom + 2 * DOT + MARGIN}`}
        width={width}
        height={bottom + 2 * DOT + MARGIN}
      >
        <circle className={style['dot']} cx={centre} cy={MARGIN + DOT} r={DOT} />
        <Down x={centre} from={MARGIN + 2 * DOT} to={column.steps.length === 0 ? bottom : top} />
        <Column column={column} x={centre - column.centre} y={top} />
        {isOpen && column.steps.length > 0 && <Down x={centre} from={bottom - GAP} to={bottom} />}
        <circle className={style['end']} cx={centre} cy={bottom + DOT} r={DOT} />
      </svg>
    </div>
  )
}

const Down = ({ x, from, to }: Readonly<{ x: number; from: number; to: number }>) => (
  <>
    <path className={style['arrow']} d={`M${x} ${from}V${to - 6}`} />
    <path className={style['tip']} d={tip.down(x, to)} />
  </>
)

interface PlacedColumn {
  readonly column: DrawnColumn
  readonly x: number
  readonly y: number
}

function Column({ column, x, y }: PlacedColumn) {
  const { steps, role, caption } = column
  const isFramed = role !== 'list' && role !== 'loop'
  return (
    <g>
      {isFramed && (
        <rect
          className={style[role === 'catch' ? 'catch' : 'lane']}
          x={x - 6}
          y={y - 6}
          width={column.width + 12}
          height={column.height + 12}
          rx={8}
        />
      )}
      {caption !== '' && (
        <text className={style['detail']} x={x + 8} y={y + 14}>
          {caption}
        </text>
      )}
      {role === 'loop' && <LoopBack column={column} x={x} y={y} />}
      {steps.map((step, at) => {
        const next = steps[at + 1]
        return (
          <g key={step.place}>
            <Step step={step} x={x + step.x} y={y + step.y} />
            {next && step.leadsOn && (
              <Down x={x + column.centre} from={y + step.y + step.height} to={y + next.y} />
            )}
          </g>
        )
      })}
      <Jumps column={column} x={x} y={y} />
    </g>
  )
}

function LoopBack({ column: { steps }, x, y }: PlacedColumn) {
  const [first, last] = [steps[0], steps.at(-1)]
  if (!first || !last) return null
  const [from, to] = [y + last.y + last.height - 12, y + first.y + 16]
  return (
    <>
      <path
        className={style['arrow']}
        d={`M${x + last.x} ${from}H${x + 8}V${to}H${x + first.x - 6}`}
      />
      <path className={style['tip']} d={tip.right(x + first.x, to)} />
    </>
  )
}

const Jumps = ({ column: { steps, jumps }, x, y }: PlacedColumn) =>
  jumps.map(({ from, to, x: far, y: out }) => {
    const [source, target] = [steps[from], steps[to]]
    if (!source || !target) return null
    const [start, end] = [x + source.x + source.width, x + target.x + target.width]
    const [a, b] = [y + source.y + out, y + target.y + 14]
    return (
      <g key={`${from}-${to}-${far}`}>
        <path className={style['arrow']} d={`M${start} ${a}H${x + far}V${b}H${end + 6}`} />
        <path className={style['tip']} d={tip.left(end, b)} />
      </g>
    )
  })

const marks: Readonly<Record<string, string>> = {
  done: 'M-6 0l4 4l8 -9',
  failed: 'M-5 -5l10 10m0 -10l-10 10',
  running: 'M-4 -6l9 6l-9 6z',
  skipped: 'M-6 0h12',
  canceled: 'M-5 -5h10v10h-10z',
}

function Step({ step, x, y }: Readonly<{ step: DrawnStep; x: number; y: number }>) {
  const { name, kind, detail, condition, state, width, height, rows, ends, columns } = step
  const room = width - 28
  const aside = kind.length * LETTER + (state === undefined ? 0 : 22)
  const words = [name, kind, detail, condition, state && workflowText.stepState(state)]
  return (
    <g className={style['step']} data-state={state} data-place={step.place}>
      <title>{words.filter(Boolean).join(' · ')}</title>
      <rect
        className={style['box']}
        data-nested={columns.length > 0 || undefined}
        x={x}
        y={y}
        width={width}
        height={height}
        rx={columns.length > 0 ? 10 : 7}
      />
      <text className={style['name']} x={x + 14} y={y + 21}>
        {fit(name, room - aside)}
      </text>
      <text
        className={style['kind']}
        x={x + width - 14 - (state === undefined ? 0 : 22)}
        y={y + 20.5}
        textAnchor="end"
      >
        {kind}
      </text>
      {detail !== '' && (
        <text className={style['detail']} x={x + 14} y={y + 38}>
          {fit(detail, room)}
        </text>
      )}
      {condition !== '' && (
        <text className={style['detail']} x={x + 14} y={y + (detail === '' ? 39 : 56)}>
          {fit(condition, room)}
        </text>
      )}
      {state !== undefined && (
        <path
          className={style['mark']}
          d={marks[state]}
          transform={`translate(${x + width - 20} ${y + 16})`}
        />
      )}
      {rows.map((row) => (
        <g key={row.y}>
          <path className={style['rule']} d={`M${x} ${y + row.y}h${width}`} />
          <text className={style['detail']} x={x + 14} y={y + row.y + 17}>
            {fit(row.text, room - 16)}
          </text>
        </g>
      ))}
      {ends.map(({ flow, y: at }) => (
        <g key={`${flow}-${at}`}>
          <path className={style['arrow']} d={`M${x + width} ${y + at}h8`} />
          <path className={style['tip']} d={tip.right(x + width + 14, y + at)} />
          <text className={style['detail']} x={x + width + 18} y={y + at + 4}>
            {flow}
          </text>
        </g>
      ))}
      {columns.map((column) => (
        <Column
          key={`${column.role}-${column.x}`}
          column={column}
          x={x + column.x}
          y={y + column.y}
        />
      ))}
    </g>
  )
}
