// `npm run check`: types and lint side by side, format, then the fast tests. Everything runs, also after a failure; the last lines
// name what failed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { checks } from './ci/jobs.ts'
import { writeCounts, type TestReport } from './ci/report.ts'
import { runAll } from './ci/run-all.ts'

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'skerry-check-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
const stopped = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopped.abort())

const began = performance.now()
const outcomes = await runAll(checks, {
  root,
  scratch,
  signal: stopped.signal,
  print: (line) => console.log(line),
  env: process.env,
})
if (stopped.signal.aborted) process.exit(1)

const report = join(scratch, 'tests.json')
const tests = spawnSync('npm', ['run', '-s', 'test', '--', '--report', report], {
  cwd: root,
  stdio: 'inherit',
})
const lines = outcomes.map(({ job, seconds, counts }) => ({
  isGood: counts.failed === 0,
  line: `${job.name}: ${counts.failed === 0 ? 'passed' : 'failed'}, ${seconds} s`,
}))
lines.push({ isGood: tests.status === 0, line: `tests: ${writeTests()}` })

console.log(`\n== check, ${Math.round((performance.now() - began) / 1000)} s`)
for (const { isGood, line } of lines) console.log(`${isGood ? '✔' : '✖'} ${line}`)
process.exitCode = lines.every(({ isGood }) => isGood) ? 0 : 1

function writeTests(): string {
  try {
    return writeCounts(JSON.parse(readFileSync(report, 'utf8')) as TestReport)
  } catch {
    return `ended with ${tests.status ?? tests.signal}`
  }
}
