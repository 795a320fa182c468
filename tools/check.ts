// `npm run check`: types, lint and format beside the fast tests, many of which wait. Everything runs, also after a failure; the last
// lines name what failed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
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
const report = join(scratch, 'tests.json')
const tests = spawn('npm', ['run', '-s', 'test', '--', '--report', report], {
  cwd: root,
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(tests, 'close')
stopped.signal.addEventListener('abort', () => tests.kill())
// Shown after the other checks, which are short.
const held: Buffer[] = []
const hold = (chunk: Buffer) => void held.push(chunk)
tests.stdout.on('data', hold)
const outcomes = await runAll(checks, {
  root,
  scratch,
  signal: stopped.signal,
  print: (line) => console.log(line),
  env: process.env,
})
if (stopped.signal.aborted) process.exit(1)

tests.stdout.off('data', hold)
process.stdout.write(Buffer.concat(held))
tests.stdout.pipe(process.stdout, { end: false })
await ended
const lines = outcomes.map(({ job, seconds, counts }) => ({
  isGood: counts.failed === 0,
  line: `${job.name}: ${counts.failed === 0 ? 'passed' : 'failed'}, ${seconds} s`,
}))
lines.push({ isGood: tests.exitCode === 0, line: `tests: ${writeTests()}` })

console.log(`\n== check, ${Math.round((performance.now() - began) / 1000)} s`)
for (const { isGood, line } of lines) console.log(`${isGood ? '✔' : '✖'} ${line}`)
process.exitCode = lines.every(({ isGood }) => isGood) ? 0 : 1

function writeTests(): string {
  try {
    return writeCounts(JSON.parse(readFileSync(report, 'utf8')) as TestReport)
  } catch {
    return `ended with ${tests.exitCode ?? tests.signalCode}`
  }
}
