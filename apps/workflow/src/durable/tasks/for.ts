import type { ForTask } from '../dsl.ts'
import { raise } from '../problem.ts'
import { type Do, evaluateOne, isTrue, type ListMark } from '../scope.ts'
import type { Json } from '../verbs.ts'

interface ForMark {
  items?: readonly Json[]
  index?: number
  data?: Json
  inner?: ListMark
}

/** What one turn gives is what the next one gets. */
export const doFor: Do<ForTask, ForMark> = async (task, here, own) => {
  const { running, place, scope } = here
  const { each = 'item', at = 'index' } = task.for
  own.items ??= await itemsOf(task, here)
  for (;;) {
    const { index = 0, data = here.input } = own
    const item = own.items[index]
    if (item === undefined) return { output: data }
    const inside = { ...scope, variables: { ...scope.variables, [each]: item, [at]: index } }
    if (own.inner === undefined && task.while !== undefined) {
      const met = await evaluateOne({ ...here, scope: inside }, data, task.while)
      if (!isTrue(met)) return { output: data }
    }
    own.inner ??= {}
    const made = await running.runList(task.do, `${place}/do`, data, inside, own.inner)
    if (made.over) return made
    own.data = made.output
    own.index = index + 1
    delete own.inner
  }
}

async function itemsOf(task: ForTask, here: Parameters<typeof doFor>[1]): Promise<readonly Json[]> {
  const { place, running, input } = here
  const items = await evaluateOne(here, input, task.for.in)
  if (!Array.isArray(items)) {
    throw raise('expression', place, `${task.for.in} should give a list to go through`)
  }
  const { items: most } = running.limits
  if (items.length > most) {
    throw raise('runtime', place, `a loop may have ${most} items, and this has ${items.length}`)
  }
  return items as readonly Json[]
}
