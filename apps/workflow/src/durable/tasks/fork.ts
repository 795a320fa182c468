import { type ForkTask, placed } from '../dsl.ts'
import { Raised } from '../problem.ts'
import { type Do, type Made, type Outcome, type TaskMark } from '../scope.ts'
import { below, type Stop, Stopped } from '../stop.ts'
import type { Json, Problem } from '../verbs.ts'

/** By the branch's place in the list: how far it is, or what it gave. */
interface ForkMark {
  branches?: Record<number, TaskMark>
  outputs?: Record<number, Json>
  failures?: Record<number, Problem>
}

/** All branches at once. One that fails ends the others; of competing ones the first that ends well does. */
export const doFork: Do<ForkTask, ForkMark> = async (task, here, own) => {
  const { running, place, scope, input } = here
  const branches = placed(task.fork.branches, `${place}/fork/branches`)
  const { compete = false } = task.fork
  const marks = (own.branches ??= {})
  const outputs = (own.outputs ??= {})
  const failures = (own.failures ??= {})
  const ended = await below([scope.stop], async (stop) => {
    running.live.branches += branches.length - 1
    const work = branches.map(async (branch, n): Promise<Outcome> => {
      const known = outputs[n]
      if (known !== undefined) return { output: known, next: 'continue', over: false }
      if (failures[n] !== undefined) throw new Raised(failures[n])
      try {
        const outcome = await running.runTask(branch, input, { ...scope, stop }, (marks[n] ??= {}))
        outputs[n] = outcome.output
        delete marks[n]
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

/** What ends the fork before all its branches end by themselves: a winner, the run's end, an error; undefined: nothing did. */
async function firstWord(
  work: readonly Promise<Outcome>[],
  compete: boolean,
  stop: Stop,
): Promise<Made | undefined> {
  let word: Made | undefined
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
        if (!(thrown instanceof Stopped && thrown.word === 'lost')) stopped ??= thrown
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
