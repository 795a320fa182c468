import type { SwitchTask } from '../dsl.ts'
import { type Do, evaluateEach, isTrue, valueOf } from '../scope.ts'

/** The first case that is met says where to go on; all are asked in one step, and only those before it need to have an answer. */
export const doSwitch: Do<SwitchTask> = async (task, here) => {
  const cases = task.switch.flatMap((each) => Object.values(each))
  const asked = cases.flatMap(({ when }) => (when === undefined ? [] : [when]))
  const answers = await evaluateEach(here, here.input, asked)
  let asking = 0
  for (const { when, then } of cases) {
    if (when !== undefined && isTrue(valueOf(here, when, answers[asking++]))) {
      return { output: here.input, next: then }
    }
  }
  const otherwise = cases.find(({ when }) => when === undefined)
  return { output: here.input, ...(otherwise !== undefined && { next: otherwise.then }) }
}
