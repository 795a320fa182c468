import type { CallFunctionTask } from '../dsl.ts'
import { whileCalling } from '../progress.ts'
import { type TaskRunner, fill, type TaskResumePoint } from '../scope.ts'

/** Calls a built-in function, or one from `use.functions`: a task that runs with these values as its input. */
export const callFunction: TaskRunner<
  CallFunctionTask,
  { inner?: TaskResumePoint; input?: never }
> = async (task, here, kindState) => {
  const { running, scope, step, input } = here
  const given = await fill(here, input, task.with ?? {})
  const defined = running.use.functions?.[task.call]
  if (defined !== undefined) {
    const placed = { name: task.call, task: defined, place: `/use/functions/${task.call}` }
    const { output, over } = await running.runTask(placed, given, scope, (kindState.inner ??= {}))
    return { output, over }
  }
  const { execution, grant } = running.run
  const call = { execution, grant, key: `${execution}/${step}`, name: task.call, input: given }
  return {
    output: await whileCalling(running, async () => running.runtime.callFunction(call, scope.stop)),
  }
}
