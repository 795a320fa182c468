// Runs jobs in lanes, and prints each when it ends.
import { addCounts, writeCounts, type Counts } from './report.ts'
import { runJob, type Outcome, type RunOptions } from './run-job.ts'
import { hopeless, LANES, nextJob, type Job } from './schedule.ts'

export interface AllOptions extends RunOptions {
  readonly print: (line: string) => void
}

/** Ports for the servers of a lab, separate for each lane: two concurrent jobs could find the same free ports. */
const portsOf = (lane: number): string => `${20_000 + 6_000 * lane}-${25_999 + 6_000 * lane}`

export async function runAll(jobs: readonly Job[], options: AllOptions): Promise<Outcome[]> {
  const { print, signal } = options
  const outcomes: Outcome[] = []
  const passed = new Set<string>()
  const running = new Map<Job, { readonly lane: number; readonly end: Promise<void> }>()
  let waiting = jobs

  const begin = (job: Job) => {
    const taken = [...running.values()].map(({ lane }) => lane)
    const lane = Array.from({ length: LANES }, (_, at) => at).find((at) => !taken.includes(at)) ?? 0
    print(`-- ${job.name}: starts, about ${Math.round(job.seconds)} s`)
    const env = { ...options.env, SKERRY_LAB_PORTS: portsOf(lane) }
    const end = runJob(job, { ...options, env }).then((outcome) => {
      running.delete(job)
      finish(outcome)
    })
    running.set(job, { lane, end })
  }
  const finish = (outcome: Outcome) => {
    outcomes.push(outcome)
    const isGood = outcome.counts.failed + outcome.counts.skipped === 0
    if (isGood) passed.add(outcome.job.name)
    print(writeOutcome(outcome, isGood))
  }

  for (;;) {
    const state = { waiting, running: [...running.keys()], passed }
    const lost = hopeless(state)
    for (const job of lost) finish(notRun(job, 'not run, because a job that it needs failed'))
    waiting = waiting.filter((job) => !lost.includes(job))
    if (lost.length > 0) continue
    const next = signal.aborted ? undefined : nextJob(state)
    if (next !== undefined) {
      waiting = waiting.filter((job) => job !== next)
      begin(next)
    } else if (running.size === 0) {
      return outcomes
    } else {
      await Promise.race([...running.values()].map(({ end }) => end))
    }
  }
}

const notRun = (job: Job, trouble: string): Outcome => ({
  job,
  seconds: 0,
  fileSeconds: {},
  failures: [],
  output: '',
  trouble,
  counts: { passed: 0, failed: 1, skipped: 0 },
})

function writeOutcome({ job, seconds, counts, output, trouble }: Outcome, isGood: boolean): string {
  const how = trouble ?? (job.files.length > 0 ? writeCounts(counts) : 'done')
  const shown = isGood ? testLines(output) : output.trimEnd()
  return `== ${job.name}: ${seconds} s, ${how}${shown === '' ? '' : `\n${shown}`}`
}

/** The lines of the spec reporter, without the output of the tests' processes and without its summary. */
const testLines = (output: string): string =>
  output
    .split('\n')
    .filter((line) => /^\s*[✔▶✖﹣ℹ] /u.test(line))
    .filter(
      (line) => !/^ℹ (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) /u.test(line),
    )
    .join('\n')

export const sumOf = (outcomes: readonly Outcome[]): Counts =>
  addCounts(outcomes.map(({ counts }) => counts))
