import type { SetTask } from '../dsl.ts'
import { type TaskRunner, transform } from '../scope.ts'

/** The output is only what is set; nothing of the input is kept. */
export const doSet: TaskRunner<SetTask> = async (task, here) => ({
  output: await transform(here, here.input, task.set),
})
