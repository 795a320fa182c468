import { type WaitTask, durationMs } from '../dsl.ts'
import { raise } from '../problem.ts'
import { whileWaiting } from '../progress.ts'
import { type TaskRunner, endOfTime, requireTime } from '../scope.ts'

export const doWait: TaskRunner<WaitTask, { until?: number }> = async (task, here, kindState) => {
  const { running, place, scope, input } = here
  const ms = durationMs(task.wait)
  if (ms === undefined)
    throw raise('configuration', place, `${JSON.stringify(task.wait)} is not a valid duration`)
  const until = (kindState.until ??= running.runtime.now() + ms)
  // A timer may fire a little early: the clock decides.
  do {
    await whileWaiting(running, 'waiting', scope.stop, async (stop) =>
      running.runtime.sleepUntil(Math.min(until, endOfTime(running)), stop),
    )
    requireTime(running, place)
  } while (running.runtime.now() < until)
  return { output: input }
}
