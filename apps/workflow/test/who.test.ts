// Goal: a password is checked by the cloud, remembered for a while as a hash, and forgotten within a second of any change.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'

import { readBasic } from '../src/http/basic.ts'
import { RememberedWho } from '../src/http/who.ts'
import { authorization } from './door.ts'
import { simulatedCloud } from './simulated-cloud.ts'
import { someone } from './workflow-database.ts'

function open() {
  const cloud = simulatedCloud()
  const who = someone('eng')
  cloud.add(who)
  const time = { aheadMs: 0 }
  const now = () => performance.now() + time.aheadMs
  const whoIs = new RememberedWho(cloud, { key: randomBytes(32), now })
  const ask = (header = authorization(who)) => whoIs.verify(header, '127.0.0.1')
  return { cloud, who, time, ask, [Symbol.dispose]: () => whoIs[Symbol.dispose]() }
}

/** How late somebody was let in for the last time: when it was asked counts, not when a busy machine comes back to it. */
async function lastLetIn(what: string, isLetIn: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  let last = 0
  await until(what, async () => {
    const asked = performance.now() - began
    if (!(await isLetIn())) return true
    last = asked
    return false
  })
  return last
}

test('whoever was let in is not asked about again for a minute, and then is', async () => {
  using it = open()
  for (let at = 0; at < 5; at++) assert.deepEqual(await it.ask(), it.who)
  assert.equal(it.cloud.checks, 1)
  it.time.aheadMs = 61_000
  assert.deepEqual(await it.ask(), it.who)
  assert.equal(it.cloud.checks, 2)
})

test('many requests at once are one question; another password is another', async () => {
  using it = open()
  const all = await Promise.all(Array.from({ length: 50 }, () => it.ask()))
  assert.ok(all.every((each) => each?.account === it.who.account))
  assert.equal(it.cloud.checks, 1)
  assert.equal(await it.ask(authorization(it.who, 'wrong')), undefined)
  assert.equal(await it.ask(authorization(it.who, 'wrong')), undefined)
  assert.equal(it.cloud.checks, 3, 'what is wrong is never remembered')
})

test('a flood of names is turned away beyond the first ones, and who is remembered is not', async () => {
  using it = open()
  await it.ask()
  const flood = Array.from({ length: 200 }, (_, at) => it.ask(authorization(it.who, `guess ${at}`)))
  assert.deepEqual(await it.ask(), it.who)
  const ends = await Promise.allSettled(flood)
  const refused = ends.filter((each) => each.status === 'rejected')
  assert.equal(refused.length, 200 - 64)
  for (const { reason } of refused) assert.equal((reason as Fault).kind, 'too-many')
  assert.equal(it.cloud.checks, 1 + 64)
})

test('a disabled user is out within a second, and so is everybody when the cloud falls silent', async () => {
  using it = open()
  await it.ask()
  it.cloud.disable(it.who)
  const disabled = await lastLetIn('nobody is let in', async () => (await it.ask()) !== undefined)
  assert.ok(disabled < 1_000, `${disabled} ms`)
  it.cloud.add(it.who)
  assert.deepEqual(await it.ask(), it.who)
  it.cloud.away = true
  const silent = await lastLetIn('it is told that the cloud is away', () =>
    it.ask().then(
      () => true,
      () => false,
    ),
  )
  assert.ok(silent < 1_600, `${silent} ms`)
})

test('a change between the question and its answer is not missed', async () => {
  using it = open()
  const check = it.cloud.check.bind(it.cloud)
  const [asked, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  it.cloud.check = async (...given) => {
    const found = await check(...given)
    asked.resolve()
    await go.promise
    return found
  }
  const first = it.ask()
  await asked.promise
  it.cloud.disable(it.who)
  it.cloud.check = check
  go.resolve()
  await first
  const missed = await lastLetIn('nobody is let in', async () => (await it.ask()) !== undefined)
  assert.ok(missed < 1_000, `${missed} ms`)
})

test('credentials are of user@organisation, whose last @ divides them, and nothing else', () => {
  const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
  assert.deepEqual(readBasic(basic('a@b@eng:x:y')), { user: 'a@b', org: 'eng', password: 'x:y' })
  assert.deepEqual(readBasic(basic('ä@eng:').replace('Basic', 'bAsIc ')), {
    ...{ user: 'ä', org: 'eng', password: '' },
  })
  for (const wrong of ['', ':', 'a', 'a:b', '@eng:x', 'a\n@eng:x', `${'a'.repeat(5000)}@eng:x`]) {
    assert.equal(readBasic(basic(wrong)), undefined, wrong)
  }
})
