// Runs test files with Node's own runner and prints one summary line at the end.
// Usage: node tools/run-tests.ts [--serial] [--report FILE] GLOB...
// --report writes the counts and the seconds of each file as JSON, for tools/ci.ts.
import { globSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

import type { TestReport } from './ci/report.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { serial: { type: 'boolean', default: false }, report: { type: 'string' } },
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
const stream = run({ files, concurrency: values.serial ? 1 : availableParallelism() })
stream.on('test:complete', ({ name, nesting, details }) => {
  // The runner reports each file as a test that contains its tests; its name is the path.
  if (nesting === 0 && files.includes(relative('.', name)))
    seconds[relative('.', name)] = Math.round(details.duration_ms / 100) / 10
})
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
  const told: TestReport = { ...count, seconds }
  writeFileSync(values.report, JSON.stringify(told), { mode: 0o600 })
}
// On a machine that was set up, a skipped test is an error.
const skipsCount = process.env['CI'] === 'true' ? count.skipped : 0
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed + skipsCount > 0 || count.passed === 0 ? 1 : 0
