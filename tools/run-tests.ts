// Runs test files with Node's own runner and closes with one plain line that CI and people read.
// Usage: node tools/run-tests.ts [--serial] GLOB...
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { serial: { type: 'boolean', default: false } },
})

const files = positionals.flatMap((pattern) => globSync(pattern)).sort()
if (files.length === 0) throw new Error(`no test file matches ${positionals.join(' ')}`)

const count = { passed: 0, failed: 0, skipped: 0 }
const stream = run({ files, concurrency: values.serial ? 1 : availableParallelism() })
stream.on('test:summary', ({ file, counts }) => {
  if (file !== undefined) return
  count.passed = counts.passed
  count.failed = counts.tests - counts.passed - counts.skipped
  count.skipped = counts.skipped
})
const report = stream.compose(spec)
report.pipe(process.stdout)
await new Promise((resolve) => report.on('end', resolve))

// On a machine that was set up, a test that did not run is a promise nobody kept.
const skipsCount = process.env['CI'] === 'true' ? count.skipped : 0
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exitCode = count.failed + skipsCount > 0 || count.passed === 0 ? 1 : 0
