import type { DefinitionDocument } from './definition.ts'
import { placed, type Placed, type Task } from './task.ts'

/** Every task of a document with its place, outer tasks before inner ones; `use.functions` last. */
export function allTasks(document: DefinitionDocument): Placed[] {
  const functions = Object.entries(document.use?.functions ?? {})
  return [
    ...placed(document.do, '/do'),
    ...functions.flatMap(([name, task]) => placed([{ [name]: task }], '/use/functions')),
  ].flatMap(withInner)
}

const withInner = (own: Placed): Placed[] => [
  own,
  ...lists(own.task, own.place).flatMap((list) => list.flatMap(withInner)),
]

/** The task lists inside of a task. */
export function lists(task: Task, place: string): Placed[][] {
  if ('do' in task) return [placed(task.do, `${place}/do`)]
  if ('fork' in task) return [placed(task.fork.branches, `${place}/fork/branches`)]
  if (!('try' in task)) return []
  return [placed(task.try, `${place}/try`), placed(task.catch.do ?? [], `${place}/catch/do`)]
}
