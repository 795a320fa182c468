import type { SetTask } from '../dsl.ts'
import { type Do, transform } from '../scope.ts'

/** What is set is all that goes on: nothing of the input stays beside it. */
export const doSet: Do<SetTask> = async (task, here) => ({
  output: await transform(here, here.input, task.set),
})
