import type { DefinitionDocument } from './definition.ts'
import { listedTasks, type ListedTask, type Task } from './task.ts'

/** Every task of a document with its place, outer tasks before inner ones; `use.functions` last. */
export function allTasks(document: DefinitionDocument): ListedTask[] {
  const functions = Object.entries(document.use?.functions ?? {})
  return [
    ...listedTasks(document.do, '/do'),
    ...functions.flatMap(([name, task]) => listedTasks([{ [name]: task }], '/use/functions')),
  ].flatMap(withInner)
}

const withInner = (own: ListedTask): ListedTask[] => [
  own,
  ...innerLists(own.task, own.place).flatMap((list) => list.flatMap(withInner)),
]

/** The task lists inside of a task. */
export function innerLists(task: Task, place: string): ListedTask[][] {
  if ('do' in task) return [listedTasks(task.do, `${place}/do`)]
  if ('fork' in task) return [listedTasks(task.fork.branches, `${place}/fork/branches`)]
  if (!('try' in task)) return []
  return [
    listedTasks(task.try, `${place}/try`),
    listedTasks(task.catch.do ?? [], `${place}/catch/do`),
  ]
}
