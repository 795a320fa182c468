// The package is CommonJS whose names Node can not see, so it comes as one.
// oxlint-disable-next-line import/default -- as said.
import sdk from '@serverlessworkflow/sdk'

import type { Document } from './definition.ts'
import { sortTask, type Placed, type Task, type TaskKind } from './task.ts'

/** How the SDK calls the schema of each kind. */
const schemaOf: Readonly<Record<TaskKind, string>> = {
  do: 'DoTask',
  set: 'SetTask',
  switch: 'SwitchTask',
  for: 'ForTask',
  fork: 'ForkTask',
  try: 'TryTask',
  wait: 'WaitTask',
  listen: 'ListenTask',
  raise: 'RaiseTask',
  run: 'RunTask',
  http: 'CallHTTP',
  function: 'CallFunction',
}

/**
 * The DSL's own schema, as its project publishes it, has the last word. Each task is held to the schema of its kind, without the
 * tasks inside of it, which are held to theirs: work grows with the text, and what is said is about this task.
 */
export function checkBySchema(
  document: Document,
  tasks: readonly Placed[],
  say: (at: string, message: string) => void,
): void {
  // The SDK knows its own version only; what later ones changed was looked at before.
  const head = { ...document.document, dsl: '1.0.0' }
  const { functions: _, ...use } = document.use ?? {}
  judge('Workflow', { ...document, document: head, use, do: [] }, '', say)
  for (const { task, place } of tasks) {
    const { kind } = sortTask(task)
    if (kind === 'set' && typeof (task as { set: unknown }).set === 'string') continue
    judge(schemaOf[kind], alone(task), place, say)
  }
}

/** The task with its lists of tasks emptied. */
function alone(task: Task): object {
  const { kind } = sortTask(task)
  if (kind === 'do' || kind === 'for') return { ...task, do: [] }
  if ('fork' in task) return { ...task, fork: { ...task.fork, branches: [] } }
  if (!('try' in task)) return task
  const { do: handling, ...rest } = task.catch
  return { ...task, try: [], catch: handling === undefined ? rest : { ...rest, do: [] } }
}

function judge(
  schema: string,
  value: unknown,
  at: string,
  say: (at: string, message: string) => void,
): void {
  try {
    // oxlint-disable-next-line import/no-named-as-default-member -- as said above.
    sdk.validate(schema, value)
  } catch (error) {
    const { place, message } = deepest(error instanceof Error ? error.message : String(error))
    say(`${at}${place}`, `the DSL's schema: ${message}`)
  }
}

/** The SDK tells every alternative that was tried, one a line; the deepest is the one that was meant. */
function deepest(message: string): { readonly place: string; readonly message: string } {
  const lines = message
    .split('\n\ndata:')[0]!
    .split('\n')
    .flatMap((line) => {
      const [place, , why] = /^- (.*)$/.exec(line)?.[1]?.split(' | ') ?? []
      return place === undefined || why === undefined ? [] : [{ place, message: why }]
    })
    .toSorted((a, b) => b.place.split('/').length - a.place.split('/').length)
  return lines[0] ?? { place: '', message: message.split('\n')[0] ?? '' }
}
