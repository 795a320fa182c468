import type { RunWorkflowTask } from '../dsl.ts'
import { raise } from '../problem.ts'
import { whileCalling } from '../progress.ts'
import { type TaskRunner, fill } from '../scope.ts'

/** Runs another workflow as a separate run with its own grant. */
export const doRun: TaskRunner<RunWorkflowTask> = async ({ run }, here) => {
  const { running, place, scope, step, input } = here
  const { depth = 0, execution } = running.run
  if (depth >= running.limits.depth) {
    throw raise('runtime', place, `runs may be nested at most ${running.limits.depth} deep`)
  }
  const { namespace, name, version, input: given = {} } = run.workflow
  const waits = run.await ?? true
  const child = {
    parent: running.run,
    key: `${execution}/${step}`,
    namespace,
    name,
    version,
    input: await fill(here, input, given),
  }
  const output = await whileCalling(running, async () =>
    running.runtime.runChild(child, waits, scope.stop),
  )
  return { output: waits ? output : input }
}
