import { bareExpression } from '../definition/expression.ts'
import {
  interactionOf,
  sortTask,
  type Duration,
  type ListedTask,
  type TaskOfKind,
  type Task,
  type TaskKind,
} from '../definition/task.ts'

/** The texts of a step in a drawing: its kind, its name, and a line of detail. */
export interface DrawingLabels {
  readonly kind: string
  readonly name: string
  readonly detail: string
  /** The condition under which it runs. */
  readonly condition: string
}

export function wordsOf({ name, task }: Pick<ListedTask, 'name' | 'task'>): DrawingLabels {
  const [kind, detail] = kindAndDetail(task)
  const condition = task.if === undefined ? '' : `if ${oneLine(bareExpression(task.if))}`
  return { kind, name: oneLine(name), detail: oneLine(detail), condition }
}

type LabelsByKind = {
  readonly [Kind in TaskKind]: (
    task: Extract<TaskOfKind, { readonly kind: Kind }>['task'],
  ) => readonly [kind: string, detail: string]
}

/** A kind and a detail line for each task kind. */
const report: LabelsByKind = {
  do: () => ['do', ''],
  set: ({ set }) => [
    'set',
    typeof set === 'string' ? bareExpression(set) : Object.keys(set).join(', '),
  ],
  switch: () => ['switch', ''],
  for: ({ for: loop }) => ['for', `each $${loop.each ?? 'item'} in ${bareExpression(loop.in)}`],
  fork: ({ fork }) => ['fork', fork.compete === true ? 'the first to end wins' : 'all at once'],
  try: () => ['try', ''],
  wait: ({ wait }) => ['wait', durationWords(wait)],
  listen: (task) => {
    const requested = interactionOf(task)
    return requested === undefined
      ? ['listen', eventsOf(task.listen.to)]
      : ['ask a user', requested.title]
  },
  raise: ({ raise: { error } }) => [
    'raise',
    typeof error === 'string' ? error : (error.title ?? error.type),
  ],
  run: ({ run: { workflow } }) => ['run', `${workflow.name} ${workflow.version}`],
  http: ({ with: { method, endpoint } }) => [
    'call',
    `${method.toUpperCase()} ${bareExpression(typeof endpoint === 'string' ? endpoint : endpoint.uri)}`,
  ],
  function: ({ call }) => ['call', call],
}

function kindAndDetail(own: Task): readonly [kind: string, detail: string] {
  const { kind, task } = sortTask(own)
  return (report[kind] as (task: Task) => readonly [string, string])(task)
}

function eventsOf(to: object): string {
  const [how = '', filters] = Object.entries(to)[0] ?? []
  const list = (Array.isArray(filters) ? filters : [filters]) as { with: { type: string } }[]
  const types = list.map((filter) => filter.with.type)
  return how === 'one' ? (types[0] ?? '') : `${how} of ${types.join(', ')}`
}

export const durationWords = (duration: Duration): string =>
  typeof duration === 'string'
    ? duration
    : Object.entries(duration)
        .map(([part, amount]) => `${amount} ${part}`)
        .join(' ')

export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** An estimate above the average width of sans-serif letters; wide scripts are wider. */
export const widthOf = (text: string, size: number): number => {
  let width = 0
  for (const character of text) width += (character > '\u2E7F' ? 1.02 : 0.58) * size
  return width
}

/** Shortens a text to the available width. */
export function fit(text: string, size: number, room: number): string {
  if (widthOf(text, size) <= room) return text
  let kept = ''
  for (const character of text) {
    if (widthOf(`${kept}${character}…`, size) > room) break
    kept += character
  }
  return `${kept.trimEnd()}…`
}
