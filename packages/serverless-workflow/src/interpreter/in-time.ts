import { problem, Raised } from './problem.ts'
import type { Runtime } from './scope.ts'
import { withAnyStop, type Stop, RunStopped } from './stop.ts'

export interface Deadline {
  readonly runtime: Runtime
  readonly stop: Stop
  readonly place: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Stops the work at the deadline and raises the DSL's timeout error. */
export async function inTime<T>(
  { runtime, stop, place, at }: Deadline,
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  return withAnyStop([stop], async (inner) =>
    withAnyStop([stop], async (clock) => {
      let late = false
      const ticking = runtime.sleepUntil(at, clock).then(
        () => {
          late = true
          inner.stop('too late')
        },
        () => undefined,
      )
      try {
        return await work(inner)
      } catch (error) {
        if (!late || !(error instanceof RunStopped) || error.word !== 'too late') throw error
        throw new Raised(problem('timeout', 'timed out', { instance: place }))
      } finally {
        clock.stop('lost')
        await ticking
      }
    }),
  )
}
