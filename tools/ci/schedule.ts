// Decides which jobs start next. The two lanes are the two cores of the CI machine.

/** The maximum total weight of running jobs. A job of this weight runs alone. */
export const LANES = 2

export interface Job {
  readonly name: string
  readonly command: readonly string[]
  /** Added to the environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Its test files; empty for a job with only an exit code. */
  readonly files: readonly string[]
  /** The estimate; longer jobs start first. */
  readonly seconds: number
  readonly weight: 1 | 2
  /** Asserts seconds and mostly waits: runs only beside another such job. */
  readonly isQuiet: boolean
  /** Two jobs with a common lock never run at the same time. */
  readonly locks: readonly string[]
  /** Names of the jobs that must have passed. */
  readonly needs: readonly string[]
  /** Starts before longer jobs: others wait for it, or it gives quick feedback. */
  readonly isFirst?: boolean
}

export interface State {
  readonly waiting: readonly Job[]
  readonly running: readonly Job[]
  /** Names of the jobs that succeeded. */
  readonly passed: ReadonlySet<string>
}

/**
 * The next job to start now, or undefined if none may. Jobs that run alone or beside few others start when no other job can: they never
 * keep a lane empty that another job could use.
 */
export function nextJob({ waiting, running, passed }: State): Job | undefined {
  const used = running.reduce((sum, { weight }) => sum + weight, 0)
  const held = new Set(running.flatMap(({ locks }) => locks))
  const mayStart = ({ weight, isQuiet, locks, needs }: Job) =>
    used + weight <= LANES &&
    running.every((other) => other.isQuiet === isQuiet) &&
    !locks.some((lock) => held.has(lock)) &&
    needs.every((name) => passed.has(name))
  return inOrder(waiting).find(mayStart)
}

/** Jobs that can never start, because a job that they need failed. */
export function hopeless({ waiting, running, passed }: State): Job[] {
  const open = new Set([...waiting, ...running].map(({ name }) => name))
  return waiting.filter(({ needs }) => needs.some((name) => !passed.has(name) && !open.has(name)))
}

export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = ({ isFirst = false, isQuiet }: Job) => (isFirst ? 0 : isQuiet ? 2 : 1)
  return jobs.toSorted(
    (a, b) =>
      a.weight - b.weight ||
      rank(a) - rank(b) ||
      b.seconds - a.seconds ||
      a.name.localeCompare(b.name),
  )
}

export interface Planned {
  readonly job: Job
  readonly from: number
  readonly to: number
}

/** When each job would run if every estimate were exact. */
export function estimate(jobs: readonly Job[]): Planned[] {
  const planned: Planned[] = []
  let waiting = jobs
  let running: readonly Planned[] = []
  let now = 0
  for (;;) {
    const passed = new Set(planned.filter(({ to }) => to <= now).map(({ job }) => job.name))
    const next = nextJob({ waiting, running: running.map(({ job }) => job), passed })
    if (next !== undefined) {
      const started = { job: next, from: now, to: now + next.seconds }
      planned.push(started)
      running = [...running, started]
      waiting = waiting.filter((each) => each !== next)
    } else if (running.length === 0) {
      return planned
    } else {
      now = Math.min(...running.map(({ to }) => to))
      running = running.filter(({ to }) => to > now)
    }
  }
}
