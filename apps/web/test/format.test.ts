import assert from 'node:assert/strict'
import { test } from 'node:test'

import { en } from '../src/text/en.ts'
import {
  formatBitRate,
  formatByteRate,
  formatDuration,
  formatLease,
  formatMiB,
} from '../src/text/format.ts'

test('sizes have the unit that fits', () => {
  assert.equal(formatMiB(512), '512 MiB')
  assert.equal(formatMiB(8192), '8 GiB')
  assert.match(formatMiB(1_572_864), /^1[.,]5 TiB$/)
})

test('rates have the unit that fits, in steps of a thousand', () => {
  assert.equal(formatByteRate(0), '0 B/s')
  assert.equal(formatByteRate(999), '999 B/s')
  assert.equal(formatByteRate(2000), '2 kB/s')
  assert.match(formatBitRate(1_600_000), /^1[.,]6 Mbit\/s$/)
  assert.match(formatByteRate(3e15), /TB\/s$/)
})

test('durations and leases are short', () => {
  const start = '2026-11-15T12:00:00.000Z'
  assert.equal(formatDuration(start, '2026-11-15T12:01:05.000Z', 0), '1 min 5 s')
  assert.equal(formatDuration(start, undefined, Date.parse(start) + 9000), '9 s')
  assert.equal(formatLease(0), 'no limit')
  assert.equal(formatLease(86_400), '1 day')
  assert.equal(formatLease(7200), '2 hours')
})

test('operations and events have words, unknown ones too', () => {
  assert.equal(en.operation('vappDeploy', false), 'Starting')
  assert.equal(en.operation('vappDeploy', true), 'Started')
  assert.equal(en.operation('vappDance', false), 'Vapp Dance')
  assert.equal(en.event('task.error'), 'Task failed')
})
