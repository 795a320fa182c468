import type { CallFunctionTask } from '../dsl.ts'
import { calling } from '../progress.ts'
import { type Do, fill, type TaskMark } from '../scope.ts'

/** A function of ours, or one that the document holds: that one is a task, run with these values as its input. */
export const callFunction: Do<CallFunctionTask, { inner?: TaskMark; input?: never }> = async (
  task,
  here,
  own,
) => {
  const { running, scope, step, input } = here
  const given = await fill(here, input, task.with ?? {})
  const defined = running.use.functions?.[task.call]
  if (defined !== undefined) {
    const placed = { name: task.call, task: defined, place: `/use/functions/${task.call}` }
    const { output, over } = await running.runTask(placed, given, scope, (own.inner ??= {}))
    return { output, over }
  }
  const { execution, grant } = running.run
  const call = { execution, grant, key: `${execution}/${step}`, name: task.call, input: given }
  return {
    output: await calling(running, async () => running.world.callFunction(call, scope.stop)),
  }
}
