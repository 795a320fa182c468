// Runs one job and collects its output.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { endJob } from './processes.ts'
import { noTests, type Counts, type Failure, type TestReport } from './report.ts'
import type { Job } from './schedule.ts'

/** The least time limit: a short job on a busy machine may take many times its estimate. */
const LIMIT_SECONDS = 5 * 60
/** The time limit as a multiple of the estimate, if that is more than the minimum. */
const LIMIT_FACTOR = 6
/** A server that a job left behind may hold its output open. */
const OUTPUT_MS = 2_000

export interface Outcome {
  readonly job: Job
  readonly seconds: number
  readonly counts: Counts
  /** Results of its test files that were run. */
  readonly fileSeconds: Readonly<Record<string, number>>
  readonly failures: readonly Failure[]
  readonly output: string
  /** Why it failed, apart from failed tests. */
  readonly trouble?: string
}

export interface RunOptions {
  readonly root: string
  /** A directory for test reports. */
  readonly scratch: string
  readonly env: NodeJS.ProcessEnv
  readonly signal: AbortSignal
  /** Seconds that a job may take. Default: by its estimate. */
  readonly limitOf?: (job: Job) => number
}

export const limitOf = ({ seconds }: Job): number => Math.max(LIMIT_SECONDS, LIMIT_FACTOR * seconds)

let started = 0

export async function runJob(job: Job, options: RunOptions): Promise<Outcome> {
  const report = join(options.scratch, `report-${++started}.json`)
  const isTest = job.files.length > 0
  const [program = '', ...words] = job.command
  const began = performance.now()
  const child = spawn(program, [...words, ...(isTest ? ['--report', report] : [])], {
    cwd: options.root,
    // In its own process group, so that it can be killed with its children.
    detached: true,
    env: { ...options.env, ...job.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const said: Buffer[] = []
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => said.push(chunk))
  const closed = once(child, 'close').catch(() => undefined)
  const exited = once(child, 'exit').catch((error: Error) => [`did not start: ${error.message}`])

  let killed: string | undefined
  let ending: Promise<void> | undefined
  const end = (why: string) => {
    if (ending !== undefined || child.pid === undefined) return
    killed = why
    ending = endJob(child.pid)
  }
  const limit = (options.limitOf ?? limitOf)(job)
  const timer = setTimeout(
    () => end(`killed after ${Math.round(limit)} s, its time limit`),
    limit * 1000,
  )
  const stop = () => end('killed, because CI was stopped')
  options.signal.addEventListener('abort', stop)
  if (options.signal.aborted) stop()

  const [code, name] = (await exited) as [number | string | null, string?]
  clearTimeout(timer)
  options.signal.removeEventListener('abort', stop)
  await ending
  await Promise.race([closed, sleep(OUTPUT_MS, undefined, { ref: false })])
  const seconds = Math.round((performance.now() - began) / 100) / 10
  const told = isTest ? readReport(report) : undefined
  const output = Buffer.concat(said).toString()
  const trouble = killed ?? troubleOf(job, told, code ?? name)
  const { passed, failed, skipped } = told ?? noTests
  return {
    job,
    seconds,
    fileSeconds: told?.seconds ?? {},
    failures: told?.failures ?? [],
    output,
    counts: { passed, failed: trouble === undefined ? failed : failed + 1, skipped },
    ...(trouble !== undefined && { trouble }),
  }
}

function readReport(file: string): TestReport | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as TestReport
  } catch {
    return undefined
  }
}

/** A job with a bad exit code counts as failed even if none of its tests failed. A successful check or set-up does not count as a test. */
function troubleOf(
  { files }: Job,
  told: TestReport | undefined,
  end: number | string | undefined,
): string | undefined {
  const { passed, failed, skipped } = told ?? noTests
  if (failed + skipped > 0) return undefined
  if (end !== 0) return `ended with ${end}`
  return passed === 0 && files.length > 0 ? 'no tests were run' : undefined
}
