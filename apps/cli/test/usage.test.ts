// Goal: skerry usage shows figures, bars and gaps, and says why there are none. Method: a vmd that answers with given series.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { noUsage } from '@skerry/vm'

import { drawSparkline } from '../src/terminal/sparkline.ts'
import { skerry, startDaemon } from './terminal.ts'

const none = noUsage({ step: 60, points: 60 }, new Date('2026-11-15T12:00:00Z'))
const gaps = Array.from({ length: 57 }, () => null)
const series = {
  ...none,
  cpuPercent: [...gaps, 0, 50, 100],
  memoryMB: [...gaps, 512, null, 1536],
  diskRead: [...gaps, 0, 0, 0],
  diskWrite: [...gaps, 1000, 2_000_000, null],
  netIn: [...gaps, 1, 2, 3],
  netOut: [...gaps, null, null, null],
}

test('each value has its figures and a bar for every minute; a gap has none', async () => {
  await using daemon = await startDaemon((_, reply) => reply.end(JSON.stringify(series)))
  const { out, code } = await skerry(daemon.url, ['usage', 'web'])
  assert.equal(code, 0)
  assert.deepEqual(daemon.requested, ['GET /api/vms/web/usage?step=60&points=60'])
  const lines = out
    .trimEnd()
    .split('\n')
    .map((line) => line.replaceAll(/ {2,}/g, '  '))
  assert.deepEqual(lines, [
    'USE  NOW  MEAN  MOST  LAST 60 MINUTES',
    'CPU  100 %  50 %  100 %  ▁▅█',
    'memory  1.5 GiB  1 GiB  1.5 GiB  ▃ █',
    'disk read  0 B/s  0 B/s  0 B/s  ▁▁▁',
    'disk write  -  1 MB/s  2 MB/s  ▁█',
    'network in  3 B/s  2 B/s  3 B/s  ▃▆█',
    'network out  -  -  -',
  ])
  const json = await skerry(daemon.url, ['usage', 'web', '--step', '15', '--json'])
  assert.deepEqual(JSON.parse(json.out), series)
  assert.match(daemon.requested.at(-1) ?? '', /usage\?step=15&points=240/)
})

test('a VM without values is no error, and a wrong step is one', async () => {
  await using daemon = await startDaemon((_, reply) => reply.end(JSON.stringify(none)))
  const off = await skerry(daemon.url, ['usage', 'web'])
  assert.deepEqual([off.code, off.out], [0, ''])
  assert.match(off.err, /^web has no values: it is not running, or was started just now\n$/)
  const wrong = await skerry(daemon.url, ['usage', 'web', '--step', '7'])
  assert.equal(wrong.code, 2)
  assert.match(wrong.err, /--step must be a multiple of 15 seconds, at most 3600/)
  assert.equal(daemon.requested.length, 1)
})

test('bars span the whole height, from zero to the top', () => {
  assert.equal(drawSparkline([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], 8), '▁▂▃▄▅▆▇███')
  assert.equal(drawSparkline([]), '')
})
