import type { ForTask } from '../dsl.ts'
import { raise } from '../problem.ts'
import { type TaskRunner, evaluateOne, isTrue, type ListResumePoint } from '../scope.ts'
import type { Json } from '../verbs.ts'

interface ForState {
  items?: readonly Json[]
  index?: number
  data?: Json
  inner?: ListResumePoint
}

/** The output of one round is the input of the next. */
export const doFor: TaskRunner<ForTask, ForState> = async (task, here, kindState) => {
  const { running, place, scope } = here
  const { each = 'item', at = 'index' } = task.for
  kindState.items ??= await itemsOf(task, here)
  for (;;) {
    const { index = 0, data = here.input } = kindState
    const item = kindState.items[index]
    if (item === undefined) return { output: data }
    const inside = { ...scope, variables: { ...scope.variables, [each]: item, [at]: index } }
    if (kindState.inner === undefined && task.while !== undefined) {
      const met = await evaluateOne({ ...here, scope: inside }, data, task.while)
      if (!isTrue(met)) return { output: data }
    }
    kindState.inner ??= {}
    const result = await running.runList(task.do, `${place}/do`, data, inside, kindState.inner)
    if (result.over) return result
    kindState.data = result.output
    kindState.index = index + 1
    delete kindState.inner
  }
}

async function itemsOf(task: ForTask, here: Parameters<typeof doFor>[1]): Promise<readonly Json[]> {
  const { place, running, input } = here
  const items = await evaluateOne(here, input, task.for.in)
  if (!Array.isArray(items)) {
    throw raise('expression', place, `${task.for.in} must return a list`)
  }
  const { items: most } = running.limits
  if (items.length > most) {
    throw raise(
      'runtime',
      place,
      `a loop may have at most ${most} items, this one has ${items.length}`,
    )
  }
  return items as readonly Json[]
}
