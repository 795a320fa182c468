// Runs test files with Node's own runner and prints one summary line at the end.
// Usage: node tools/run-tests.ts [--serial] [--report FILE] [--exit-within SECONDS] GLOB...
// --report writes the counts and the seconds of each file as JSON, for tools/ci.ts. A file whose process is alive so many seconds
// after its last test ended is killed and has failed.
import { globSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

import { followFiles } from './ci/file-ends.ts'
import { killTree } from './ci/processes.ts'
import { writeReason, type Failure, type TestReport } from './ci/report.ts'
import { childrenOf, commandOf } from './lab/src/system/processes.ts'

/** Enough to remove the largest lab on a busy machine. */
const EXIT_SECONDS = 120

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    serial: { type: 'boolean', default: false },
    report: { type: 'string' },
    'exit-within': { type: 'string', default: String(EXIT_SECONDS) },
  },
})

const found = positionals.map((pattern) => ({ pattern, files: globSync(pattern) }))
const missing = found.filter(({ files }) => files.length === 0).map(({ pattern }) => pattern)
if (found.length === 0) throw new Error('no test files given, for example tests/*.test.ts')
if (missing.length > 0) throw new Error(`no test file matches ${missing.join(' ')}`)
const files = [...new Set(found.flatMap((each) => each.files))].sort()

// Each file is a separate process: with a compile cache, most of them start in a third of the time.
process.env['NODE_COMPILE_CACHE'] ??= join(
  import.meta.dirname,
  '../node_modules/.cache/skerry-compiled',
)

const count = { passed: 0, failed: 0, skipped: 0 }
const seconds: Record<string, number> = {}
const failures: Failure[] = []
// Many of the fast tests wait: one more than cores keeps these busy.
const stream = run({ files, concurrency: values.serial ? 1 : availableParallelism() + 1 })
const ends = followFiles(files, () => performance.now())
/** The runner reports each file as a test that contains its tests; its name is the path. */
const isFile = (name: string, nesting: number) =>
  nesting === 0 && files.includes(relative('.', name))
stream.on('test:enqueue', ({ name, nesting, file = '' }) => {
  if (!isFile(name, nesting)) ends.queued(relative('.', file))
})
stream.on('test:complete', ({ name, nesting, file = '', details }) => {
  if (!isFile(name, nesting)) return ends.completed(relative('.', file))
  ends.exited(relative('.', name))
  seconds[relative('.', name)] = Math.round(details.duration_ms / 100) / 10
})
stream.on('test:fail', ({ name, details: { error } }) => {
  // A test that contains the failed one fails with it.
  const isOwn = !('failureType' in error && error.failureType === 'subtestsFailed')
  if (isOwn) failures.push({ test: name, why: writeReason(error) })
})
setInterval(() => {
  for (const file of ends.overdue(Number(values['exit-within']) * 1000)) endFile(file)
}, 1000).unref()
stream.on('test:summary', ({ file, counts }) => {
  if (file !== undefined) return
  count.passed = counts.passed
  count.failed = counts.tests - counts.passed - counts.skipped
  count.skipped = counts.skipped
})
const report = stream.compose(spec)
report.pipe(process.stdout)
await new Promise((resolve) => report.on('end', resolve))

if (values.report !== undefined) {
  const told: TestReport = { ...count, seconds, failures }
  writeFileSync(values.report, JSON.stringify(told), { mode: 0o600 })
}
// On a machine that was set up, a skipped test is an error.
const skipsCount = process.env['CI'] === 'true' ? count.skipped : 0
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed + skipsCount > 0 || count.passed === 0 ? 1 : 0

function endFile(file: string): void {
  const runs = (pid: number) => commandOf(pid).some((word) => resolve(word) === resolve(file))
  console.log(
    `${file}: its tests ended more than ${values['exit-within']} s ago and its process did not: killed`,
  )
  childrenOf(process.pid).filter(runs).forEach(killTree)
}
