import { type ForkTask, listedTasks } from '../dsl.ts'
import { Raised } from '../problem.ts'
import {
  type TaskRunner,
  type TaskResult,
  type TaskOutcome,
  type TaskResumePoint,
} from '../scope.ts'
import { withAnyStop, type Stop, RunStopped } from '../stop.ts'
import type { Json, Problem } from '../verbs.ts'

/** Keyed by the index of the branch: its resume point or its result. */
interface ForkState {
  branches?: Record<number, TaskResumePoint>
  outputs?: Record<number, Json>
  failures?: Record<number, Problem>
}

/** Runs all branches concurrently. A failing branch ends the others; with `compete` the first to succeed ends them. */
export const doFork: TaskRunner<ForkTask, ForkState> = async (task, here, kindState) => {
  const { running, place, scope, input } = here
  const branches = listedTasks(task.fork.branches, `${place}/fork/branches`)
  const { compete = false } = task.fork
  const resumePoints = (kindState.branches ??= {})
  const outputs = (kindState.outputs ??= {})
  const failures = (kindState.failures ??= {})
  const ended = await withAnyStop([scope.stop], async (stop) => {
    running.live.branches += branches.length - 1
    const work = branches.map(async (branch, n): Promise<TaskOutcome> => {
      const known = outputs[n]
      if (known !== undefined) return { output: known, next: 'continue', over: false }
      if (failures[n] !== undefined) throw new Raised(failures[n])
      try {
        const outcome = await running.runTask(
          branch,
          input,
          { ...scope, stop },
          (resumePoints[n] ??= {}),
        )
        outputs[n] = outcome.output
        delete resumePoints[n]
        return outcome
      } catch (error) {
        if (error instanceof Raised) failures[n] = error.problem
        throw error
      }
    })
    const first = firstWord(work, compete, stop)
    try {
      await Promise.allSettled(work)
      return await first
    } finally {
      running.live.branches -= branches.length - 1
    }
  })
  return ended ?? { output: branches.map((_, n) => outputs[n] ?? null) }
}

/** What ends the fork before all branches have ended: a winner, the end of the run, or an error; undefined: nothing. */
async function firstWord(
  work: readonly Promise<TaskOutcome>[],
  compete: boolean,
  stop: Stop,
): Promise<TaskResult | undefined> {
  let word: TaskResult | undefined
  let error: Raised | undefined
  let stopped: unknown
  let failed = 0
  const each = work.map(async (branch) => {
    try {
      const { output, next, over } = await branch
      if (word !== undefined || error !== undefined) return
      if (over || next === 'end') word = { output, over: true }
      else if (compete) word = { output }
      if (word !== undefined) stop.stop('lost')
    } catch (thrown) {
      if (!(thrown instanceof Raised)) {
        if (!(thrown instanceof RunStopped && thrown.word === 'lost')) stopped ??= thrown
        return
      }
      failed++
      if (word !== undefined || error !== undefined) return
      if (compete && failed < work.length && !thrown.final) return
      error = thrown
      stop.stop('lost')
    }
  })
  await Promise.all(each)
  if (word !== undefined) return word
  if (error !== undefined) throw error
  if (stopped !== undefined) throw stopped
  return undefined
}
