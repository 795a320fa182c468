// Goal: the packaged alert rules load, fire when they must, and use only existing metrics. Method: Debian's promtool with the rules'
// own tests; the metric names against the metrics table, the alerts against the page with the actions.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { reasonWithoutRoot } from '@skerry/lab'
import { metricTable } from '@skerry/service'

const run = promisify(execFile)
const PROMETHEUS = join(import.meta.dirname, '../prometheus')
const PAGE = join(import.meta.dirname, '../../../docs/guides/monitoring.md')
const skip = reasonWithoutRoot('monitor') ?? false
const rules = await readFile(join(PROMETHEUS, 'skerry.rules.yml'), 'utf8')
const tests = await readFile(join(PROMETHEUS, 'skerry.rules.test.yml'), 'utf8')
const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name)

test('Prometheus loads the rules, and each fires when it must', { skip }, async () => {
  await run('promtool', ['check', 'rules', join(PROMETHEUS, 'skerry.rules.yml')])
  const { stdout } = await run('promtool', ['test', 'rules', 'skerry.rules.test.yml'], {
    cwd: PROMETHEUS,
  })
  assert.match(stdout, /SUCCESS/)
})

test('every alert has a test and a documented action', async () => {
  assert.ok(alerts.length >= 10)
  const page = await readFile(PAGE, 'utf8')
  const documented = [...page.matchAll(/^\| `(Skerry\w+)` \|/gm)].map(([, name = '']) => name)
  assert.deepEqual(documented, alerts)
  for (const name of alerts) {
    assert.match(tests, new RegExp(`alertname: ${name}\\n +exp_alerts:`), name)
  }
})

test('every metric in a rule exists', () => {
  const named = [...rules.matchAll(/\b(skerry_[a-z_]+)\b/g)].map(([, name = '']) => name)
  const measured = new Set(
    Object.entries(metricTable).flatMap(([name, { type }]) =>
      type === 'histogram' ? [`${name}_bucket`] : [name],
    ),
  )
  assert.deepEqual(
    named.filter((name) => !measured.has(name)),
    [],
  )
})
