import type { SwitchTask } from '../dsl.ts'
import { type TaskRunner, evaluateEach, isTrue, valueOf } from '../scope.ts'

/** The first matching case wins. All conditions are evaluated in one step; only those before the match must succeed. */
export const doSwitch: TaskRunner<SwitchTask> = async (task, here) => {
  const cases = task.switch.flatMap((each) => Object.values(each))
  const requested = cases.flatMap(({ when }) => (when === undefined ? [] : [when]))
  const answers = await evaluateEach(here, here.input, requested)
  let asking = 0
  for (const { when, then } of cases) {
    if (when !== undefined && isTrue(valueOf(here, when, answers[asking++]))) {
      return { output: here.input, next: then }
    }
  }
  const otherwise = cases.find(({ when }) => when === undefined)
  return { output: here.input, ...(otherwise !== undefined && { next: otherwise.then }) }
}
