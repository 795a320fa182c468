import { createRequire } from 'node:module'

import type * as Sdk from '@serverlessworkflow/sdk'

import type { DefinitionDocument } from '../definition/definition.ts'
import { sortTask, type ListedTask, type Task, type TaskKind } from '../definition/task.ts'

const require = createRequire(import.meta.url)

/** Loaded with the first definition: the SDK compiles all of its schemas then, which takes most of a second. */
const loadSdk = (): typeof Sdk => require('@serverlessworkflow/sdk')

/** The SDK's schema name of each task kind. */
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
 * Validates against the DSL's official schema. Each task is checked against the schema of its kind without its inner tasks, which
 * are checked separately: the work grows linearly with the text, and each error is about one task.
 */
export function checkBySchema(
  document: DefinitionDocument,
  tasks: readonly ListedTask[],
  report: (at: string, message: string) => void,
): void {
  // The SDK accepts only its own version. Differences in later versions were checked before.
  const head = { ...document.document, dsl: '1.0.0' }
  const { functions: _, ...use } = document.use ?? {}
  validateBy('Workflow', { ...document, document: head, use, do: [] }, '', report)
  for (const { task, place } of tasks) {
    const { kind } = sortTask(task)
    if (kind === 'set' && typeof (task as { set: unknown }).set === 'string') continue
    validateBy(schemaOf[kind], withoutInnerTasks(task), place, report)
  }
}

/** The task with empty inner task lists. */
function withoutInnerTasks(task: Task): object {
  const { kind } = sortTask(task)
  if (kind === 'do' || kind === 'for') return { ...task, do: [] }
  if ('fork' in task) return { ...task, fork: { ...task.fork, branches: [] } }
  if (!('try' in task)) return task
  const { do: handling, ...rest } = task.catch
  return { ...task, try: [], catch: handling === undefined ? rest : { ...rest, do: [] } }
}

function validateBy(
  schema: string,
  value: unknown,
  at: string,
  report: (at: string, message: string) => void,
): void {
  const { validate } = loadSdk()
  try {
    validate(schema, value)
  } catch (error) {
    const { place, message } = deepestError(error instanceof Error ? error.message : String(error))
    report(`${at}${place}`, `DSL schema: ${message}`)
  }
}

/** The SDK reports every alternative it tried, one per line; the deepest is most likely the intended one. */
function deepestError(message: string): { readonly place: string; readonly message: string } {
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
