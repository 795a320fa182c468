import { bareExpression } from '../definition/expression.ts'
import {
  placed,
  sortTask,
  type Catch,
  type Flow,
  type Placed,
  type SwitchTask,
} from '../definition/task.ts'
import { fit, oneLine, widthOf, wordsOf, type Words } from './words.ts'

/** Sizes in the drawing's units, which are pixels unless it is scaled. */
export const SIZE = {
  name: 14,
  detail: 12,
  head: 48,
  row: 26,
  gap: 34,
  padding: 18,
  narrowest: 190,
  widest: 330,
  /** Between two arrows that go past the boxes. */
  lane: 14,
  /** For a pill that says end or exit. */
  pill: 56,
} as const

/** One task with its measures; everything inside is placed relative to its upper left corner. */
export interface Box {
  readonly placed: Placed
  readonly words: Words
  readonly width: number
  readonly height: number
  /** Height of what stands above the inner columns. */
  readonly head: number
  readonly rows: readonly CaseRow[]
  readonly columns: readonly Column[]
  /** Where it goes when it is done; undefined: nowhere. */
  readonly onward: Flow | undefined
}
/** A case of a switch: one row in its box. */
export interface CaseRow {
  readonly text: string
  readonly flow: Flow
  readonly y: number
}

/** A list of tasks, one under the other. */
export interface Column {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  /** The middle of the boxes. */
  readonly centre: number
  /** Where the lanes begin, to the right of boxes and pills. */
  readonly lanesAt: number
  readonly items: readonly { readonly box: Box; readonly x: number; readonly y: number }[]
  readonly jumps: readonly Jump[]
  readonly role: 'list' | 'lane' | 'loop' | 'try' | 'catch'
  readonly caption: string
}
/** From a box, or a row of it, past the others to the one of that name. */
export interface Jump {
  readonly from: number
  /** From the top of the box. */
  readonly y: number
  readonly to: number
  readonly lane: number
}

const MIDDLE = SIZE.head / 2

export function planColumn(
  list: readonly Placed[],
  role: Column['role'] = 'list',
  said = '',
): Column {
  const boxes = list.map(planBox)
  const caption = fit(said, SIZE.detail, SIZE.widest)
  const widest = Math.max(0, ...boxes.map(({ width }) => width))
  const jumps = planJumps(boxes)
  const pills = boxes.some((box) =>
    flowsOf(box).some(({ flow }) => flow === 'end' || flow === 'exit'),
  )
  const loop = role === 'loop' ? 26 : 0
  const past = pills ? SIZE.pill : 0
  const lanes = 1 + Math.max(-1, ...jumps.map(({ lane }) => lane))
  const needed = loop + widest + past + (lanes > 0 ? (lanes + 1) * SIZE.lane : 0)
  const width = Math.max(needed, caption === '' ? 0 : widthOf(caption, SIZE.detail) + 16)
  const left = loop + (width - needed) / 2
  const top = caption === '' ? 0 : 26
  let y = top
  const items = boxes.map((box) => {
    const item = { box, x: left + (widest - box.width) / 2, y }
    y += box.height + SIZE.gap
    return item
  })
  const height = Math.max(top, y - SIZE.gap)
  const lanesAt = left + widest + past
  return {
    x: 0,
    y: 0,
    width,
    height,
    centre: left + widest / 2,
    lanesAt,
    items,
    jumps,
    role,
    caption,
  }
}

/** All ways out of a box that are not simply the next one. */
export function flowsOf(box: Box): { readonly flow: Flow; readonly y: number }[] {
  const own = box.onward === undefined ? [] : [{ flow: box.onward, y: MIDDLE }]
  return [...box.rows.map(({ flow, y }) => ({ flow, y: y + SIZE.row / 2 })), ...own]
}

/** Does the arrow to the next box below begin here? */
export const goesOn = (box: Box): boolean => flowsOf(box).some(({ flow }) => flow === 'continue')

function planJumps(boxes: readonly Box[]): Jump[] {
  const index = new Map(boxes.map((box, at) => [box.placed.name, at]))
  const wanted = boxes.flatMap((box, from) =>
    flowsOf(box).flatMap(({ flow, y }) => {
      const to = index.get(flow)
      return to === undefined ? [] : [{ from, to, y }]
    }),
  )
  // Short ones near the boxes, and no two in one lane where they would lie upon each other.
  const taken: [number, number][][] = []
  return wanted
    .toSorted((a, b) => Math.abs(a.to - a.from) - Math.abs(b.to - b.from))
    .map((jump) => {
      const [low, high] = [Math.min(jump.from, jump.to), Math.max(jump.from, jump.to)]
      let lane = taken.findIndex((spans) => spans.every(([from, to]) => high < from || low > to))
      if (lane === -1) lane = taken.push([]) - 1
      taken[lane]?.push([low, high])
      return { ...jump, lane }
    })
}

function planBox(own: Placed): Box {
  const words = wordsOf(own)
  const rows = 'switch' in own.task ? casesOf(own.task) : []
  const columns = columnsOf(own)
  const texts = [
    widthOf(words.name, SIZE.name) + 40,
    words.detail === '' ? 0 : widthOf(words.detail, SIZE.detail) + 9 * words.kind.length + 44,
    widthOf(words.condition, SIZE.detail) + 28,
    ...rows.map(({ text }) => widthOf(text, SIZE.detail) + 28),
  ]
  const text = Math.min(SIZE.widest, Math.max(SIZE.narrowest, ...texts))
  const head = SIZE.head + (words.condition === '' ? 0 : 18) - (words.detail === '' ? 8 : 0)
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

/** Columns side by side in a frame, the middle one of them under the middle of the frame where there is only one. */
function around(columns: readonly Column[], text: number, head: number) {
  const gap = 22
  const inner = columns.reduce((sum, { width }) => sum + width, gap * (columns.length - 1))
  const only = columns.length === 1 ? columns[0] : undefined
  // Boxes of a single column stand in the middle, so that arrows in and out are one line.
  const half = only === undefined ? 0 : Math.max(only.centre, only.width - only.centre)
  const width = Math.max(text, (only === undefined ? inner : 2 * half) + 2 * SIZE.padding)
  let x = only === undefined ? (width - inner) / 2 : width / 2 - only.centre
  const highest = Math.max(0, ...columns.map(({ height }) => height))
  const placedColumns = columns.map((column) => {
    const height = column.role === 'lane' ? highest : column.height
    const at = { ...column, height, x, y: head + 4 }
    x += column.width + gap
    return at
  })
  return { width, height: head + 4 + highest + SIZE.padding, columns: placedColumns }
}

function columnsOf({ task, place }: Placed): Column[] {
  const sorted = sortTask(task)
  if (sorted.kind === 'do') return [planColumn(placed(sorted.task.do, `${place}/do`))]
  if (sorted.kind === 'for') {
    const until = sorted.task.while
    const caption = until === undefined ? '' : `while ${oneLine(bareExpression(until))}`
    return [planColumn(placed(sorted.task.do, `${place}/do`), 'loop', caption)]
  }
  if (sorted.kind === 'fork')
    return placed(sorted.task.fork.branches, `${place}/fork/branches`).map((branch) =>
      planColumn([branch], 'lane'),
    )
  if (sorted.kind !== 'try') return []
  const { catch: handling } = sorted.task
  return [
    planColumn(placed(sorted.task.try, `${place}/try`), 'try'),
    planColumn(placed(handling.do ?? [], `${place}/catch/do`), 'catch', catchWords(handling)),
  ]
}

function catchWords({ errors, as, when, retry }: Catch): string {
  const { type, status } = errors?.with ?? {}
  const which = [status, type?.split('/').at(-1), when && oneLine(bareExpression(when))]
  const again =
    retry === undefined ? '' : typeof retry === 'string' ? `, try again: ${retry}` : ', try again'
  const said = which.filter((each) => each !== undefined).join(' ')
  return `catch ${said || 'every error'}${as === undefined ? '' : ` as $${as}`}${again}`.slice(
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

/** A raised error goes nowhere on its own; a switch with a case for everything else has no other way out. */
function onwardOf({ task }: Placed): Flow | undefined {
  if ('raise' in task) return undefined
  const whole =
    'switch' in task &&
    task.switch.some((item) => Object.values(item).some(({ when }) => when === undefined))
  return whole ? undefined : (task.then ?? 'continue')
}
