import { withReplacements, element, type Element } from '@skerry/xml'

import type { Marks, StepMark } from './marks.ts'
import { flowsOf, goesOn, isDown, kindWidth, SIZE, type Box, type DrawingColumn } from './plan.ts'
import { fit } from './words.ts'

/** State shared by all parts of a drawing. */
export interface Pen {
  readonly marks: Marks
}
type DrawBox = (pen: Pen, box: Box, x: number, y: number) => Element

const round = (value: number): number => Math.round(value * 10) / 10

/** A vertical line with an arrow tip at its end. */
export const arrowDown = (x: number, from: number, to: number): Element[] => [
  element('path', { class: 'arrow', d: `M${round(x)} ${round(from)}V${round(to - 6)}` }),
  tip(x, to, 'down'),
]

function tip(x: number, y: number, way: 'down' | 'left' | 'right'): Element {
  const [a, b] = [round(x), round(y)]
  const points = {
    down: `M${a} ${b}l-5 -8h10z`,
    left: `M${a} ${b}l8 -5v10z`,
    right: `M${a} ${b}l-8 -5v10z`,
  }
  return element('path', { class: 'tip', d: points[way] })
}

/** A task list: its boxes, the arrows between them, and the jumps past them. */
export function drawColumn(
  pen: Pen,
  column: DrawingColumn,
  x: number,
  y: number,
  drawBox: DrawBox,
): Element[] {
  const { items, role, caption } = column
  const arrows = items.flatMap(({ box, y: own }, index) => {
    const next = items[index + 1]
    const bottom = y + own + box.height
    return next !== undefined && goesOn(box, next.box)
      ? arrowDown(x + column.centre, bottom, y + next.y)
      : []
  })
  return [
    ...background(column, x, y),
    ...(caption === ''
      ? []
      : [
          element(
            'text',
            { class: 'caption', x: round(x + 8), y: round(y + 14) },
            withReplacements(caption),
          ),
        ]),
    ...(role === 'loop' ? loopBack(column, x, y) : []),
    ...arrows,
    ...items.map(({ box, x: inner, y: own }) => drawBox(pen, box, x + inner, y + own)),
    ...items.flatMap(({ box, x: inner, y: own }, index) =>
      downRows(box, items[index + 1]?.box, x + inner + box.width, y + own),
    ),
    ...items.flatMap(({ box, x: inner, y: own }) => pills(box, x + inner + box.width, y + own)),
    ...column.jumps.flatMap((jump) => drawJump(column, jump, x, y)),
  ]
}

function background(column: DrawingColumn, x: number, y: number): Element[] {
  const size = { width: round(column.width + 12), height: round(column.height + 12), rx: 8 }
  if (column.role === 'list' || column.role === 'loop') return []
  const kind = column.role === 'try' ? 'lane' : column.role
  return [element('rect', { class: kind, x: round(x - 6), y: round(y - 6), ...size })]
}

/** The arrow back from the last box to the first, on the left. */
function loopBack({ items }: DrawingColumn, x: number, y: number): Element[] {
  const [first, last] = [items[0], items.at(-1)]
  if (first === undefined || last === undefined) return []
  const from = y + last.y + last.box.height - 12
  const to = y + first.y + 16
  const left = x + 8
  const d = `M${round(x + last.x)} ${round(from)}H${round(left + 6)}Q${round(left)} ${round(from)} ${round(left)} ${round(from - 6)}V${round(to + 6)}Q${round(left)} ${round(to)} ${round(left + 6)} ${round(to)}H${round(x + first.x - 6)}`
  return [element('path', { class: 'arrow', d }), tip(x + first.x, to, 'right')]
}

/** Marks a case that leads to the next box in its row, because the arrow itself belongs to the whole switch. */
function downRows({ rows }: Box, next: Box | undefined, right: number, y: number): Element[] {
  return rows
    .filter(({ flow }) => isDown(flow, next))
    .map(({ y: own }) => tip(right - 14, y + own + SIZE.row / 2 + 4, 'down'))
}

/** `end` and `exit` lead to no box, so they are shown at the box itself. */
function pills(box: Box, right: number, y: number): Element[] {
  return flowsOf(box)
    .filter(({ flow }) => flow === 'end' || flow === 'exit')
    .flatMap(({ flow, y: own }) => {
      const at = round(y + own)
      return [
        element('path', { class: 'arrow', d: `M${round(right)} ${at}h8` }),
        tip(right + 14, y + own, 'right'),
        element('rect', {
          class: 'pill',
          x: round(right + 14),
          y: at - 9,
          width: 38,
          height: 18,
          rx: 9,
        }),
        element(
          'text',
          { class: 'detail', x: round(right + 33), y: at + 4, 'text-anchor': 'middle' },
          flow,
        ),
      ]
    })
}

function drawJump(
  { items }: DrawingColumn,
  { from, y: out, to, x: at }: DrawingColumn['jumps'][number],
  x: number,
  y: number,
): Element[] {
  const [source, target] = [items[from], items[to]]
  if (source === undefined || target === undefined) return []
  const start = x + source.x + source.box.width
  const end = x + target.x + target.box.width
  const [a, b] = [y + source.y + out, y + target.y + 14]
  const far = x + at
  const turn = a < b ? 6 : -6
  const d = `M${round(start)} ${round(a)}H${round(far - 6)}Q${round(far)} ${round(a)} ${round(far)} ${round(a + turn)}V${round(b - turn)}Q${round(far)} ${round(b)} ${round(far - 6)} ${round(b)}H${round(end + 6)}`
  return [element('path', { class: 'arrow', d }), tip(end, b, 'left')]
}

/** A step and its content. */
export function drawBox(pen: Pen, box: Box, x: number, y: number): Element {
  const { words, width, height, columns, placed } = box
  const mark = pen.marks.get(placed.place)
  const nested = columns.length > 0
  const [left, top] = [round(x), round(y)]
  const shape = { x: left, y: top, width: round(width), height: round(height), rx: nested ? 10 : 7 }
  const room = width - 28
  const text = (kind: string, size: number, below: number, words: string, space = room) =>
    words === ''
      ? undefined
      : element(
          'text',
          { class: kind, x: left + 14, y: round(y + below) },
          withReplacements(fit(words, size, space)),
        )
  const aside = kindWidth(words) + (mark === undefined ? 0 : SIZE.mark)
  const parts = [words.name, words.kind, words.detail, words.condition, mark].filter(
    (each) => each !== undefined && each !== '',
  )
  return element(
    'g',
    {
      class: mark === undefined ? 'step' : `step ${mark}`,
      'data-place': withReplacements(placed.place),
    },
    element('title', {}, withReplacements(parts.join(' · '))),
    element('rect', { class: nested ? 'frame' : 'box', ...shape }),
    text('name', SIZE.name, 21, words.name, room - aside - 8),
    element(
      'text',
      {
        class: 'kind',
        x: round(x + width - 14 - (mark === undefined ? 0 : SIZE.mark)),
        y: round(y + 20.5),
        'text-anchor': 'end',
      },
      words.kind,
    ),
    text('detail', SIZE.detail, 38, words.detail),
    text('condition', SIZE.detail, words.detail === '' ? 39 : 56, words.condition),
    mark === undefined ? undefined : drawMark(mark, x + width - 20, y + 16),
    ...drawRows(box, x, y),
    ...(columns[1]?.role === 'catch' ? errorArrow(columns[0], columns[1], x, y) : []),
    ...columns.flatMap((column) => drawColumn(pen, column, x + column.x, y + column.y, drawBox)),
  )
}

function drawRows({ rows, width }: Box, x: number, y: number): Element[] {
  return rows.flatMap(({ text, y: own }) => [
    element('path', { class: 'rule', d: `M${round(x)} ${round(y + own)}h${round(width)}` }),
    element(
      'text',
      { class: 'detail', x: round(x + 14), y: round(y + own + 17) },
      withReplacements(fit(text, SIZE.detail, width - 44)),
    ),
  ])
}

/** The arrow from the tried steps to the error handler. */
function errorArrow(
  tried: DrawingColumn | undefined,
  caught: DrawingColumn,
  x: number,
  y: number,
): Element[] {
  if (tried === undefined) return []
  const from = x + tried.x + tried.width + 6
  const to = x + caught.x - 6
  const at = round(y + caught.y + 14)
  return [
    element('path', { class: 'error', d: `M${round(from)} ${at}H${round(to - 6)}` }),
    tip(to, at, 'right'),
  ]
}

/** A symbol in addition to the colour, for users who cannot see colours. */
function drawMark(mark: StepMark, x: number, y: number): Element {
  const [a, b] = [round(x), round(y)]
  const signs: Readonly<Record<StepMark, string>> = {
    done: `M${a - 6} ${b}l4 4l8 -9`,
    failed: `M${a - 5} ${b - 5}l10 10m0 -10l-10 10`,
    running: `M${a - 4} ${b - 6}l9 6l-9 6z`,
    skipped: `M${a - 6} ${b}h12`,
    canceled: `M${a - 5} ${b - 5}h10v10h-10z`,
  }
  return element('path', { class: 'mark', d: signs[mark] })
}
