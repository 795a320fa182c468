import { bareExpression } from '../definition/expression.ts'
import {
  listedTasks,
  sortTask,
  type Catch,
  type Flow,
  type ListedTask,
  type SwitchTask,
} from '../definition/task.ts'
import { fit, oneLine, widthOf, wordsOf, type DrawingLabels } from './words.ts'

/** Sizes in the drawing's units: pixels, unless it is scaled. */
export const SIZE = {
  name: 14,
  detail: 12,
  kind: 10.5,
  /** Height of a box with and without a second line. */
  head: 48,
  low: 32,
  row: 26,
  gap: 34,
  padding: 18,
  narrowest: 190,
  widest: 330,
  /** Between two jump arrows. */
  lane: 14,
  /** Space at the right of a box for the state symbol. */
  mark: 22,
  /** Between columns side by side. */
  beside: 34,
  /** Space for an end or exit pill. */
  pill: 56,
} as const

/** A task with its measures; everything inside is relative to its upper left corner. */
export interface Box {
  readonly placed: ListedTask
  readonly words: DrawingLabels
  readonly width: number
  readonly height: number
  /** Height of the part above the inner columns. */
  readonly head: number
  readonly rows: readonly CaseRow[]
  readonly columns: readonly DrawingColumn[]
  /** The flow after it ends; undefined: none. */
  readonly onward: Flow | undefined
}
/** A case of a switch: one row in its box. */
export interface CaseRow {
  readonly text: string
  readonly flow: Flow
  readonly y: number
}

/** A vertical list of tasks. */
export interface DrawingColumn {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** The horizontal centre of the boxes. */
  readonly centre: number
  readonly items: readonly { readonly box: Box; readonly x: number; readonly y: number }[]
  readonly jumps: readonly Jump[]
  readonly role: 'list' | 'lane' | 'loop' | 'try' | 'catch'
  readonly caption: string
}
/** An arrow from a box, or a row of it, past other boxes to the box of that name. */
export interface Jump {
  readonly from: number
  /** Offset from the top of the box. */
  readonly y: number
  readonly to: number
  /** The x position of its vertical part, from the left of the column. */
  readonly x: number
}

export function planColumn(
  list: readonly ListedTask[],
  role: DrawingColumn['role'] = 'list',
  detail = '',
): DrawingColumn {
  const boxes = list.map(planBox)
  const caption = fit(detail, SIZE.detail, SIZE.widest)
  const widest = Math.max(0, ...boxes.map(({ width }) => width))
  const loop = role === 'loop' ? 26 : 0
  const jumps = planJumps(boxes, widest)
  const past = boxes.map((box) => (widest + box.width) / 2 + (hasPill(box) ? SIZE.pill : 0))
  const right = Math.max(widest, ...past, ...jumps.map(({ x }) => x + SIZE.lane))
  const needed = loop + right
  const width = Math.max(needed, caption === '' ? 0 : widthOf(caption, SIZE.detail) + 16)
  const left = loop + (width - needed) / 2
  const top = caption === '' ? 0 : 26
  let y = top
  const items = boxes.map((box) => {
    const item = { box, x: left + (widest - box.width) / 2, y }
    y += box.height + SIZE.gap
    return item
  })
  return {
    x: 0,
    y: 0,
    width,
    height: Math.max(top, y - SIZE.gap),
    centre: left + widest / 2,
    items,
    role,
    caption,
    jumps: jumps.map((jump) => ({ ...jump, x: left + jump.x })),
  }
}

/** All flows out of a box. */
export function flowsOf(box: Box): { readonly flow: Flow; readonly y: number }[] {
  const own = box.onward === undefined ? [] : [{ flow: box.onward, y: box.head / 2 }]
  return [...box.rows.map(({ flow, y }) => ({ flow, y: y + SIZE.row / 2 })), ...own]
}

const isPill = (flow: Flow): boolean => flow === 'end' || flow === 'exit'
const hasPill = (box: Box): boolean => flowsOf(box).some(({ flow }) => isPill(flow))

/** Whether this flow leads to the next box below. */
export const isDown = (flow: Flow, next: Box | undefined): boolean =>
  flow === 'continue' || flow === next?.placed.name

/** Whether the arrow to the next box below starts here. */
export const goesOn = (box: Box, next?: Box): boolean =>
  flowsOf(box).some(({ flow }) => isDown(flow, next))

/** Places each jump as close to the boxes it passes as possible, without overlapping another jump. */
function planJumps(boxes: readonly Box[], widest: number): Jump[] {
  const index = new Map(boxes.map((box, at) => [box.placed.name, at]))
  const wanted = boxes.flatMap((box, from) =>
    flowsOf(box).flatMap(({ flow, y }) => {
      const to = index.get(flow)
      return to === undefined || isDown(flow, boxes[from + 1]) ? [] : [{ from, to, y }]
    }),
  )
  const edges = boxes.map((box) => (widest + box.width) / 2 + (hasPill(box) ? SIZE.pill : 0))
  // Sorted from left to right, so that one pass finds the first free lane.
  const taken: { readonly low: number; readonly high: number; readonly x: number }[] = []
  return wanted
    .toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))
    .map((jump) => {
      const [low, high] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)]
      let x = Math.max(...edges.slice(low, high + 1)) + SIZE.lane
      for (const each of taken) {
        if (each.x - x >= SIZE.lane) break
        const meets = high >= each.low && low <= each.high
        if (meets && x - each.x < SIZE.lane) x = each.x + SIZE.lane
      }
      const after = taken.findIndex((each) => each.x > x)
      taken.splice(after === -1 ? taken.length : after, 0, { low, high, x })
      return { ...jump, x }
    })
}

function planBox(own: ListedTask): Box {
  const words = wordsOf(own)
  const rows = 'switch' in own.task ? casesOf(own.task) : []
  const columns = columnsOf(own)
  const texts = [
    widthOf(words.name, SIZE.name) + kindWidth(words) + SIZE.mark + 40,
    widthOf(words.detail, SIZE.detail) + 28,
    widthOf(words.condition, SIZE.detail) + 28,
    ...rows.map(({ text }) => widthOf(text, SIZE.detail) + 44),
  ]
  const text = Math.min(SIZE.widest, Math.max(SIZE.narrowest, ...texts))
  const line = SIZE.head - SIZE.low
  const head = SIZE.low + (words.detail === '' ? 0 : line) + (words.condition === '' ? 0 : line + 2)
  if (columns.length === 0) {
    const placedRows = rows.map((row, index) => ({ ...row, y: head + index * SIZE.row }))
    const height = head + rows.length * SIZE.row + (rows.length > 0 ? 6 : 0)
    return {
      placed: own,
      words,
      width: text,
      height,
      head,
      rows: placedRows,
      columns,
      onward: onwardOf(own),
    }
  }
  return {
    placed: own,
    words,
    head,
    rows: [],
    onward: onwardOf(own),
    ...around(columns, text, head),
  }
}

/** The kind is on the same line as the name. */
export const kindWidth = ({ kind }: DrawingLabels): number => widthOf(kind, SIZE.kind) * 1.3

/** Arranges columns side by side in a frame; a single column is centred. */
function around(columns: readonly DrawingColumn[], text: number, head: number) {
  const inner = columns.reduce((sum, { width }) => sum + width, SIZE.beside * (columns.length - 1))
  const only = columns.length === 1 ? columns[0] : undefined
  // Boxes of a single column are centred, so that arrows in and out form one line.
  const half = only === undefined ? 0 : Math.max(only.centre, only.width - only.centre)
  const width = Math.max(text, (only === undefined ? inner : 2 * half) + 2 * SIZE.padding)
  let x = only === undefined ? (width - inner) / 2 : width / 2 - only.centre
  const highest = Math.max(0, ...columns.map(({ height }) => height))
  const placedColumns = columns.map((column) => {
    const at = { ...column, height: only === undefined ? highest : column.height, x, y: head + 4 }
    x += column.width + SIZE.beside
    return at
  })
  return { width, height: head + 4 + highest + SIZE.padding, columns: placedColumns }
}

function columnsOf({ task, place }: ListedTask): DrawingColumn[] {
  const sorted = sortTask(task)
  if (sorted.kind === 'do') return [planColumn(listedTasks(sorted.task.do, `${place}/do`))]
  if (sorted.kind === 'for') {
    const until = sorted.task.while
    const caption = until === undefined ? '' : `while ${oneLine(bareExpression(until))}`
    return [planColumn(listedTasks(sorted.task.do, `${place}/do`), 'loop', caption)]
  }
  if (sorted.kind === 'fork')
    return listedTasks(sorted.task.fork.branches, `${place}/fork/branches`).map((branch) =>
      planColumn([branch], 'lane'),
    )
  if (sorted.kind !== 'try') return []
  const { catch: handling } = sorted.task
  return [
    planColumn(listedTasks(sorted.task.try, `${place}/try`), 'try'),
    planColumn(listedTasks(handling.do ?? [], `${place}/catch/do`), 'catch', catchWords(handling)),
  ]
}

function catchWords({ errors, as, when, retry }: Catch): string {
  const { type, status } = errors?.with ?? {}
  const which = [status, type?.split('/').at(-1), when && oneLine(bareExpression(when))]
  const again =
    retry === undefined ? '' : typeof retry === 'string' ? `, try again: ${retry}` : ', try again'
  const conditions = which.filter((each) => each !== undefined).join(' ')
  return `catch ${conditions || 'every error'}${as === undefined ? '' : ` as $${as}`}${again}`.slice(
    0,
    60,
  )
}

const casesOf = ({ switch: cases }: SwitchTask): CaseRow[] =>
  cases.flatMap((item) =>
    Object.entries(item).map(([name, { when, then: flow }]) => ({
      text: when === undefined ? `${name}: otherwise` : `${name}: ${oneLine(bareExpression(when))}`,
      flow,
      y: 0,
    })),
  )

/** A raised error has no next step; a switch with a default case has no other way out. */
function onwardOf({ task }: ListedTask): Flow | undefined {
  if ('raise' in task) return undefined
  const whole =
    'switch' in task &&
    task.switch.some((item) => Object.values(item).some(({ when }) => when === undefined))
  return whole ? undefined : (task.then ?? 'continue')
}
