// Goal: the cloud checks a password; it is cached for a while as a hash, and dropped within a second of any change.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import type { Fault } from '@skerry/fault'
import { until } from '@skerry/lab'

import { CachingAuthenticator } from '../src/http/authenticator.ts'
import { simulatedCloud } from './simulated-cloud.ts'
import { authorization } from './workflow-api.ts'
import { someone } from './workflow-database.ts'

function open() {
  const cloud = simulatedCloud()
  const principal = someone('eng')
  cloud.add(principal)
  const time = { aheadMs: 0 }
  const now = () => performance.now() + time.aheadMs
  const authenticator = new CachingAuthenticator(cloud, { key: randomBytes(32), now })
  const ask = (header = authorization(principal)) => authenticator.verify(header, '127.0.0.1')
  const read = (header = authorization(principal)) =>
    authenticator.verify(header, '127.0.0.1', 'read')
  return {
    cloud,
    principal,
    time,
    ask,
    read,
    [Symbol.dispose]: () => authenticator[Symbol.dispose](),
  }
}

/** The last time a request was accepted: the time when it was sent counts, not when a busy machine processes the result. */
async function lastLetIn(what: string, isLetIn: () => Promise<boolean>): Promise<number> {
  const began = performance.now()
  let last = 0
  await until(what, async () => {
    const requested = performance.now() - began
    if (!(await isLetIn())) return true
    last = requested
    return false
  })
  return last
}

test('accepted credentials are cached for a minute, then checked again', async () => {
  using it = open()
  for (let at = 0; at < 5; at++) assert.deepEqual(await it.ask(), it.principal)
  assert.equal(it.cloud.checks, 1)
  it.time.aheadMs = 61_000
  assert.deepEqual(await it.ask(), it.principal)
  assert.equal(it.cloud.checks, 2)
})

test('concurrent requests share one check; another password needs its own', async () => {
  using it = open()
  const all = await Promise.all(Array.from({ length: 50 }, () => it.ask()))
  assert.ok(all.every((each) => each?.account === it.principal.account))
  assert.equal(it.cloud.checks, 1)
  assert.equal(await it.ask(authorization(it.principal, 'wrong')), undefined)
  assert.equal(await it.ask(authorization(it.principal, 'wrong')), undefined)
  assert.equal(it.cloud.checks, 3, 'rejected credentials are not cached')
})

test('a flood of unknown names is rejected above a limit, cached users are not', async () => {
  using it = open()
  await it.ask()
  const flood = Array.from({ length: 200 }, (_, at) =>
    it.ask(authorization(it.principal, `guess ${at}`)),
  )
  assert.deepEqual(await it.ask(), it.principal)
  const ends = await Promise.allSettled(flood)
  const refused = ends.filter((each) => each.status === 'rejected')
  assert.equal(refused.length, 200 - 64)
  for (const { reason } of refused) assert.equal((reason as Fault).kind, 'too-many')
  assert.equal(it.cloud.checks, 1 + 64)
})

test('a disabled user is rejected within a second, and so is everyone when the cloud is silent', async () => {
  using it = open()
  await it.ask()
  it.cloud.disable(it.principal)
  const disabled = await lastLetIn('no one is accepted', async () => (await it.ask()) !== undefined)
  assert.ok(disabled < 1_000, `${disabled} ms`)
  it.cloud.add(it.principal)
  assert.deepEqual(await it.ask(), it.principal)
  it.cloud.away = true
  const silent = await lastLetIn('the cloud is reported as unavailable', () =>
    it.ask().then(
      () => true,
      () => false,
    ),
  )
  assert.ok(silent < 1_600, `${silent} ms`)
})

test('while the cloud is unavailable, recent users can read for a quarter of an hour and change nothing', async () => {
  using it = open()
  await it.ask()
  it.cloud.away = true
  it.time.aheadMs = 61_000
  assert.deepEqual(await it.read(), it.principal)
  await assert.rejects(it.ask(), { kind: 'unavailable' })
  await assert.rejects(it.read(authorization(it.principal, 'another password')), {
    kind: 'unavailable',
  })
  it.time.aheadMs = 14 * 60_000
  assert.deepEqual(await it.read(), it.principal)
  it.time.aheadMs = 16 * 60_000
  await assert.rejects(it.read(), { kind: 'unavailable' })
})

test('a known change ends reading at once, even if it happened while no one sent requests', async () => {
  using it = open()
  await it.ask()
  const stamp = it.cloud.stamp.bind(it.cloud)
  const heard = Promise.withResolvers<void>()
  it.time.aheadMs = 61_000
  it.cloud.disable(it.principal)
  it.cloud.stamp = async () => {
    const said = await stamp()
    setImmediate(heard.resolve)
    return said
  }
  await heard.promise
  it.cloud.away = true
  await assert.rejects(it.read(), { kind: 'unavailable' })
})

test('a change during a check is not missed', async () => {
  using it = open()
  const check = it.cloud.check.bind(it.cloud)
  const [requested, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  it.cloud.check = async (...given) => {
    const found = await check(...given)
    requested.resolve()
    await go.promise
    return found
  }
  const first = it.ask()
  await requested.promise
  it.cloud.disable(it.principal)
  it.cloud.check = check
  go.resolve()
  await first
  const missed = await lastLetIn('no one is accepted', async () => (await it.ask()) !== undefined)
  assert.ok(missed < 1_000, `${missed} ms`)
})
