import { problem, Raised } from './problem.ts'
import type { World } from './scope.ts'
import { below, type Stop, Stopped } from './stop.ts'

export interface Deadline {
  readonly world: World
  readonly stop: Stop
  readonly place: string
  /** Milliseconds since 1970. */
  readonly at: number
}

/** Ends what is under way at that time, with the DSL's own error. */
export async function inTime<T>(
  { world, stop, place, at }: Deadline,
  work: (stop: Stop) => Promise<T>,
): Promise<T> {
  return below([stop], async (inner) =>
    below([stop], async (clock) => {
      let late = false
      const ticking = world.sleepUntil(at, clock).then(
        () => {
          late = true
          inner.stop('too late')
        },
        () => undefined,
      )
      try {
        return await work(inner)
      } catch (error) {
        if (!late || !(error instanceof Stopped) || error.word !== 'too late') throw error
        throw new Raised(problem('timeout', 'it did not end in time', { instance: place }))
      } finally {
        clock.stop('lost')
        await ticking
      }
    }),
  )
}
