// All checks and tests, in two lanes. `.ci/run` sets up a machine and starts this; developers start it with options:
//   node tools/ci.ts --only PATTERN      test files and checks that match this regular expression, without set-up
//   node tools/ci.ts --changed           checks, and test files affected by the difference from main, without set-up
//   node tools/ci.ts --list              prints when each job would run, and starts none
//   node tools/ci.ts --write-durations   stores the measured seconds in tests/durations.json
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { changedFiles, touchedFiles } from './ci/changed.ts'
import { readTicks, writeShare } from './ci/cores.ts'
import { checks, DURATIONS, otherJobs, readDurations, testFiles, testJobs } from './ci/jobs.ts'
import { writeCounts } from './ci/report.ts'
import { runAll, sumOf } from './ci/run-all.ts'
import type { Outcome } from './ci/run-job.ts'
import { estimate, type Job } from './ci/schedule.ts'
import { readSources } from './ci/sources.ts'
import { forgetDeadLabs, namesOfLabs } from './lab/src/network/netns.ts'

/** A longer run fails, so that CI never grows unnoticed. */
const BUDGET_SECONDS = 88 * 60
const SLOWEST = 20

const root = join(import.meta.dirname, '..')
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    changed: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    'write-durations': { type: 'boolean', default: false },
  },
})

const jobs = chosenJobs()
if (jobs.length === 0) throw new Error('no job matches: node tools/ci.ts --list prints all')
if (values.list) listJobs(jobs)
else process.exitCode = await runJobs(jobs)

/** All jobs, or those of the chosen test files. Checks run for changes too; set-up only with everything. */
function chosenJobs(): readonly Job[] {
  const wanted = new RegExp(values.only ?? '')
  const others = otherJobs(readDurations(root)).filter(({ name }) => wanted.test(name))
  const quick = others.filter(({ name }) => !name.startsWith('setup:'))
  const named = testFiles(root).filter((file) => wanted.test(file))
  const files = values.changed ? touchedFiles(named, changedFiles(root), readSources(root)) : named
  const chosen = [...(values.changed ? quick : others), ...testJobs(root, files)]
  const names = new Set(chosen.map(({ name }) => name))
  // Jobs that are not selected were set up before.
  return chosen.map((job) => ({ ...job, needs: job.needs.filter((name) => names.has(name)) }))
}

function listJobs(chosen: readonly Job[]): void {
  const planned = estimate(chosen)
  for (const { job, from, to } of planned) {
    const { weight, isQuiet, locks, needs } = job
    const notes = [weight === 2 ? 'alone' : '', isQuiet ? 'quiet' : '', ...locks, ...needs]
      .filter(Boolean)
      .join(', ')
    console.log(`${clock(from)} – ${clock(to)}  ${job.name}${notes === '' ? '' : `  (${notes})`}`)
  }
  const end = Math.max(...planned.map(({ to }) => to))
  const work = planned.reduce((sum, { job }) => sum + job.seconds, 0)
  console.log(`${planned.length} jobs, ${clock(work)} of work, over after ${clock(end)}`)
}

async function runJobs(chosen: readonly Job[]): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'skerry-ci-'))
  const stopped = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopped.abort())
  const began = performance.now()
  const ticks = readTicks()
  const others = await namesOfLabs()
  const outcomes = await runAll(chosen, {
    root,
    scratch,
    signal: stopped.signal,
    print: (line) => console.log(line),
    env: {
      ...process.env,
      CI: 'true',
      PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
      NODE_COMPILE_CACHE: join(scratch, 'compiled'),
    },
  }).finally(() => rmSync(scratch, { recursive: true, force: true }))
  // A killed test cannot remove the names of its networks.
  if (sumOf(outcomes).failed > 0) await forgetDeadLabs(others)
  const seconds = Math.round((performance.now() - began) / 1000)
  summarize(outcomes)
  if (values['write-durations']) writeDurations(outcomes)
  console.log(`== total: ${seconds} s; the cores: ${writeShare(ticks, readTicks())}`)
  const counts = sumOf(outcomes)
  const isLate = seconds > BUDGET_SECONDS
  if (isLate) console.log(`== more than the budget of ${BUDGET_SECONDS} s: counts as failed`)
  if (stopped.signal.aborted) console.log('== interrupted: counts as failed')
  const failed = counts.failed + (isLate ? 1 : 0) + (stopped.signal.aborted ? 1 : 0)
  console.log(writeCounts({ ...counts, failed }))
  return failed + counts.skipped > 0 ? 1 : 0
}

function summarize(outcomes: readonly Outcome[]): void {
  const slowest = Object.entries(secondsOf(outcomes)).toSorted(([, a], [, b]) => b - a)
  console.log(`\n== the slowest`)
  for (const [name, seconds] of slowest.slice(0, SLOWEST))
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${name}`)
  const bad = outcomes.filter(({ counts }) => counts.failed + counts.skipped > 0)
  if (bad.length > 0) console.log('\n== not well')
  for (const { job, counts, trouble, failures } of bad) {
    console.log(`${job.name}: ${trouble ?? writeCounts(counts)}`)
    // Repeated here: often only the end of a log is kept.
    for (const { test, why } of failures)
      console.log(`✖ ${test}\n${why}`.replaceAll('\n', '\n    '))
  }
}

/** Keyed by file, and by name for jobs without files. */
function secondsOf(outcomes: readonly Outcome[]): Record<string, number> {
  return Object.fromEntries(
    outcomes.flatMap(({ job, seconds, fileSeconds }) =>
      job.files.length === 0 ? [[job.name, seconds] as const] : Object.entries(fileSeconds),
    ),
  )
}

/**
 * Passed jobs replace the stored values; deleted files are dropped. Set-up has fixed estimates in the table: with a warm cache it
 * takes no time, which is not representative.
 */
function writeDurations(outcomes: readonly Outcome[]): void {
  const good = outcomes.filter(({ counts }) => counts.failed + counts.skipped === 0)
  const known = { ...readDurations(root), ...secondsOf(good) }
  const names = new Set([...testFiles(root), ...checks.map(({ name }) => name)])
  const kept = Object.entries(known)
    .filter(([name]) => names.has(name))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(join(root, DURATIONS), `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}

function clock(seconds: number): string {
  const whole = Math.round(seconds)
  return `${String(Math.floor(whole / 60)).padStart(3)}:${String(whole % 60).padStart(2, '0')}`
}
