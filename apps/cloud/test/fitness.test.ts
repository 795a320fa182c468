// Goal: a cell notices a wrong clock or certificate, suspends signing, and reports each change once. Method: tables for the
// decisions; the check itself against a real Postgres, with a clock that the test sets.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startIssuer, until, type Postgres } from '@skerry/lab'
import type { HostId } from '@skerry/vm'

import { Fitness, judgeCertificate, judgeClock } from '../src/cell/fitness.ts'
import { kindsOf, openCloudDatabase, startDatabases } from './cloud-database.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const DAY_MS = 24 * 60 * 60 * 1000

for (const [differenceMs, ok, warn, message] of [
  [0, true, false, /is 0 s ahead of/],
  [29_000, true, false, /29 s ahead of/],
  [-29_000, true, false, /29 s behind/],
  [31_000, true, true, /31 s ahead of .*NTP/],
  [-31_000, true, true, /31 s behind .*NTP/],
  [299_000, true, true, /NTP/],
  [301_000, false, true, /NTP/],
  [-301_000, false, true, /NTP/],
  [400 * DAY_MS, false, true, /34560000 s ahead of/],
  [-400 * DAY_MS, false, true, /34560000 s behind/],
] as const) {
  test(`a clock that differs by ${differenceMs} ms is ${ok ? 'ok' : 'not ok'}`, () => {
    const judged = judgeClock(differenceMs)
    assert.deepEqual([judged.ok, judged.warn], [ok, warn])
    assert.match(judged.message, message)
  })
}

test('a certificate is valid within its period, by the database’s clock, and within its epoch', async () => {
  await using control = await startIssuer('control')
  const name = 'URI:skerry://lab/cell/c1'
  const { cert } = await control.issue(name, 'URI:skerry://lab/epoch/2')
  const now = new Date()
  const inMs = (ms: number) => new Date(now.getTime() + ms)
  for (const [at, epoch, ok, message] of [
    [now, 2, true, /is valid from/],
    [now, 1, true, /is valid from/],
    [now, 3, false, /revoked/],
    [inMs(-DAY_MS), 2, false, /clock was wrong/],
    [inMs(2 * DAY_MS), 2, false, /renewal failed/],
  ] as const) {
    const judged = judgeCertificate(cert, at, epoch)
    assert.equal(judged.ok, ok, `${at.toISOString()} ${epoch}`)
    assert.match(judged.message, message)
  }
})

test('a cell with a wrong clock is unfit and suspends signing, and is fit again when the clock is corrected', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await using control = await startIssuer('control')
  const name = 'URI:skerry://lab/cell/c1'
  const { cert } = await control.issue(name, 'URI:skerry://lab/epoch/1')
  let aheadMs = 0
  const lines: string[] = []
  const fitness = new Fitness({
    cell: 'c1',
    db: cloud.db,
    cert: () => cert,
    log: (line) => lines.push(line),
    clock: { now: () => new Date(Date.now() + aheadMs) },
  })
  await fitness.check()
  assert.ok(fitness.isFit)
  assert.ok(fitness.signingClock.now() instanceof Date)
  assert.deepEqual(
    fitness.conditions.list().map((each) => [each.name, each.ok]),
    [
      ['clock', true],
      ['certificate', true],
    ],
  )
  aheadMs = 400 * DAY_MS
  await fitness.check()
  await fitness.check()
  assert.ok(!fitness.isFit)
  assert.throws(() => fitness.signingClock.now(), {
    kind: 'unavailable',
    message: /signing is suspended/,
  })
  aheadMs = 60_000
  await fitness.check()
  assert.ok(fitness.isFit)
  await until('each change was recorded once', async () => (await kindsOf(cloud.db)).length === 2)
  assert.deepEqual(await kindsOf(cloud.db), ['cell.unfit', 'cell.fit'])
  assert.equal(lines.filter((line) => line.startsWith('clock is')).length, 2, lines.join('\n'))
})

test('an untrusted host is reported to administrators, and does not make a cell unfit', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const fitness = new Fitness({
    cell: 'c1',
    db: cloud.db,
    cert: () => '',
    log: () => undefined,
    clock: { now: () => new Date() },
  })
  const [one, two] = ['h1', 'h2'] as HostId[]
  assert.ok(one && two)
  fitness.trusts(one, 'TLS certificate mismatch with the host h1')
  fitness.trusts(two, 'TLS certificate mismatch with the host h2')
  fitness.trusts(one)
  assert.match(fitness.conditions.failing()[0]?.message ?? '', /h2/)
  assert.ok(fitness.isFit)
  fitness.trusts(two)
  assert.deepEqual(fitness.conditions.failing(), [])
  fitness.reaches(false)
  assert.ok(!fitness.isFit)
  await until('each change was recorded', async () => (await kindsOf(cloud.db)).length === 3)
  assert.deepEqual((await kindsOf(cloud.db)).toSorted(), ['cell.fit', 'cell.unfit', 'cell.unfit'])
})

test('distrust of a host that another cell contacts now is forgotten', async () => {
  await using cloud = await openCloudDatabase(postgres)
  await using control = await startIssuer('control')
  const { cert } = await control.issue('URI:skerry://lab/cell/c1', 'URI:skerry://lab/epoch/1')
  let now = 0
  const fitness = new Fitness({
    cell: 'c1',
    db: cloud.db,
    cert: () => cert,
    log: () => undefined,
    now: () => now,
    clock: { now: () => new Date() },
  })
  const [one, two] = ['h1', 'h2'] as HostId[]
  assert.ok(one && two)
  fitness.trusts(one, 'TLS certificate mismatch with the host h1')
  now = 2 * 60_000
  fitness.trusts(two, 'TLS certificate mismatch with the host h2')
  now = 4 * 60_000
  await fitness.check()
  assert.match(fitness.conditions.failing()[0]?.message ?? '', /h2/)
  now = 6 * 60_000
  await fitness.check()
  assert.deepEqual(fitness.conditions.failing(), [])
})
