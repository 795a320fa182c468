import type { WaitTask } from '../dsl.ts'
import { durationMs } from '../duration.ts'
import { raise } from '../problem.ts'
import { resting } from '../progress.ts'
import { type Do, endOfTime, requireTime } from '../scope.ts'

export const doWait: Do<WaitTask, { until?: number }> = async (task, here, own) => {
  const { running, place, scope, input } = here
  const ms = durationMs(task.wait)
  if (ms === undefined)
    throw raise('configuration', place, `${JSON.stringify(task.wait)} is no duration`)
  const until = (own.until ??= running.world.now() + ms)
  await resting(running, 'waiting', scope.stop, async (stop) =>
    running.world.sleepUntil(Math.min(until, endOfTime(running)), stop),
  )
  requireTime(running, place)
  return { output: input }
}
