// Goal: Prometheus can read our metrics. Method: the text, line by line, as format 0.0.4 requires.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Metrics } from '../src/index.ts'

test('counters, gauges and histograms have the Prometheus format', () => {
  const metrics = new Metrics()
  const requests = metrics.counter('requests_total', 'Requests answered.')
  metrics.gauge('vms', 'VMs by power.', () => [
    [{ power: 'on' }, 2],
    [{ power: 'off' }, 0],
  ])
  metrics.gauge('up', 'Whether it answers.', () => [[{}, 1]])
  requests({ route: 'listVms', status: 200 })
  requests({ route: 'listVms', status: 200 })
  requests({ route: 'readVm', status: 409 })
  assert.equal(
    metrics.text(),
    `# HELP requests_total Requests answered.
# TYPE requests_total counter
requests_total{route="listVms",status="200"} 2
requests_total{route="readVm",status="409"} 1
# HELP vms VMs by power.
# TYPE vms gauge
vms{power="on"} 2
vms{power="off"} 0
# HELP up Whether it answers.
# TYPE up gauge
up 1
`,
  )
})

test('a histogram counts each value in every bucket that includes it', () => {
  const metrics = new Metrics()
  const seconds = metrics.histogram('seconds', 'How long it took.')
  for (const value of [0.0005, 0.02, 0.02, 100]) seconds({ route: 'a' }, value)
  const lines = metrics.text().split('\n').slice(2, -1)
  assert.equal(lines[0], 'seconds_bucket{route="a",le="0.001"} 1')
  assert.equal(lines[2], 'seconds_bucket{route="a",le="0.025"} 3')
  assert.equal(lines.at(-3), 'seconds_bucket{route="a",le="+Inf"} 4')
  assert.match(lines.at(-2) ?? '', /^seconds_sum\{route="a"\} 100\.04/)
  assert.equal(lines.at(-1), 'seconds_count{route="a"} 4')
})

test('quotes, backslashes and line ends in a label cannot end it', () => {
  const metrics = new Metrics()
  metrics.gauge('one', 'One.', () => [[{ name: 'a"b\\c\nd' }, 1]])
  assert.equal(metrics.text().split('\n')[2], String.raw`one{name="a\"b\\c\nd"} 1`)
})
