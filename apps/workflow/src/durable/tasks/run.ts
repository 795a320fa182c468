import type { RunWorkflowTask } from '../dsl.ts'
import { raise } from '../problem.ts'
import { calling } from '../progress.ts'
import { type Do, fill } from '../scope.ts'

/** Another workflow, as a run of its own with a grant of its own. */
export const doRun: Do<RunWorkflowTask> = async ({ run }, here) => {
  const { running, place, scope, step, input } = here
  const { depth = 0, execution } = running.run
  if (depth >= running.limits.depth) {
    throw raise('runtime', place, `runs may be ${running.limits.depth} deep inside of each other`)
  }
  const { namespace, name, version, input: given = {} } = run.workflow
  const waits = run.await ?? true
  const child = {
    ...{ parent: running.run, key: `${execution}/${step}`, namespace, name, version },
    input: await fill(here, input, given),
  }
  const output = await calling(running, async () =>
    running.world.runChild(child, waits, scope.stop),
  )
  return { output: waits ? output : input }
}
