import type { WorkflowDefinition } from '../definition/definition.ts'
import { listedTasks } from '../definition/task.ts'
import type { Marks, StepMark } from './marks.ts'
import { flowsOf, goesOn, planColumn, type Box, type DrawingColumn, type Jump } from './plan.ts'

/** A step of a drawing as data, for clients that draw it themselves. Positions are relative to its column. */
export interface OutlinedStep {
  readonly place: string
  readonly name: string
  readonly kind: string
  readonly detail: string
  readonly condition: string
  /** Its state in a run. */
  readonly state?: StepMark
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
  readonly rows: readonly { readonly text: string; readonly y: number }[]
  /** Whether an arrow leads to the next step below. */
  readonly leadsOn: boolean
  /** Ways out that lead to no step: the end of the workflow, or the exit of its list. */
  readonly ends: readonly { readonly flow: string; readonly y: number }[]
  readonly columns: readonly OutlinedColumn[]
}

export interface OutlinedColumn extends Pick<
  DrawingColumn,
  'x' | 'y' | 'width' | 'height' | 'centre' | 'role' | 'caption'
> {
  readonly steps: readonly OutlinedStep[]
  readonly jumps: readonly Jump[]
}

export interface WorkflowOutline {
  readonly title: string
  readonly summary: string
  readonly column: OutlinedColumn
}

/** The drawing of a workflow as data: the same steps, sizes and arrows as in `drawWorkflow`. */
export const outlineWorkflow = (
  { title, summary, document }: WorkflowDefinition,
  marks: Marks = new Map(),
): WorkflowOutline => ({
  title,
  summary,
  column: columnOf(planColumn(listedTasks(document.do, '/do')), marks),
})

const columnOf = (
  { items, x, y, width, height, centre, role, caption, jumps }: DrawingColumn,
  marks: Marks,
): OutlinedColumn => ({
  x,
  y,
  width,
  height,
  centre,
  role,
  caption,
  jumps,
  steps: items.map(({ box, x: left, y: top }, at) => ({
    ...stepOf(box, items[at + 1]?.box, marks),
    x: left,
    y: top,
  })),
})

function stepOf(box: Box, next: Box | undefined, marks: Marks): Omit<OutlinedStep, 'x' | 'y'> {
  const { placed, words, width, height, rows, columns } = box
  const state = marks.get(placed.place)
  return {
    place: placed.place,
    name: words.name,
    kind: words.kind,
    detail: words.detail,
    condition: words.condition,
    ...(state !== undefined && { state }),
    width,
    height,
    rows: rows.map(({ text, y }) => ({ text, y })),
    leadsOn: goesOn(box, next),
    ends: flowsOf(box).filter(({ flow }) => flow === 'end' || flow === 'exit'),
    columns: columns.map((column) => columnOf(column, marks)),
  }
}
