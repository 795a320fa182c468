// Goal: passwords cannot be guessed at the cloud, and guessing does not lock out other users. Method: two cells' sessions on one real
// Postgres; time passes in the table. The test counts the calls of the password check.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import { networkOf } from '@skerry/service'
import { sql } from 'kysely'

import { checkBounds, CheckQueue } from '../src/auth/check-queue.ts'
import { makeCheck } from '../src/auth/credentials.ts'
import { hashPassword } from '../src/auth/password.ts'
import { makeSessions } from '../src/auth/sessions.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { FREE_FAILURES, recordFailure } from '../src/tenants/login-failures.ts'
import { openCloudDatabase, openSealed, startDatabases } from './cloud-database.ts'

/** Seconds, more than any test takes: a delay is still in effect when it is checked. */
const LONG = 600

let postgres: Postgres
let password: string
before(async () => {
  postgres = await startDatabases()
  password = await hashPassword('secret', randomBytes(16))
})
after(() => postgres[Symbol.asyncDispose]())

async function openCells() {
  const cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const { org } = cloud.principal
  for (const name of ['alice', 'bob']) {
    await db.insertInto('account').values({ org, name, role: 'author', password }).execute()
  }
  const now = () => performance.now()
  const cells = [1, 2].map(() =>
    makeSessions(
      db,
      () => randomBytes(32).toString('base64url'),
      makeCheck(db, password, { now, open: openSealed, clock: { now: () => new Date() } }),
    ),
  )
  const logIn = async (cell: number, user: string, secret: string, address = '10.0.0.1') => {
    try {
      await cells[cell]?.logIn({ user, org: 'eng', password: secret }, address)
      return 'in'
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      if (error.kind !== 'too-many') return error.kind
      assert.ok(Number(error.detail) > 0)
      return 'to wait'
    }
  }
  /** Pretends that this much time has passed. */
  const pass = (seconds: number) =>
    sql`update login_failure set until = until - make_interval(secs => ${seconds}),
      last_at = last_at - make_interval(secs => ${seconds})`.execute(db)
  const guesses = async () =>
    (await db.selectFrom('login_failure').select('failures').execute()).reduce(
      (sum, { failures }) => sum + failures,
      0,
    )
  /** The delay at the time of the last failure. */
  const waitOf = async (key: Buffer) => {
    const { rows } = await sql<{
      wait: string
    }>`select round(extract(epoch from until - last_at)) as wait
      from login_failure where key = ${key}`.execute(db)
    return Number(rows[0]?.wait)
  }
  return { ...cloud, logIn, pass, guesses, waitOf }
}

test('after five wrong passwords at any cell no password is checked for a while, not even the right one', async () => {
  await using cells = await openCells()
  const { logIn, pass } = cells
  for (let n = 0; n < FREE_FAILURES; n += 1) {
    assert.equal(await logIn(n % 2, 'alice', 'guess'), 'unauthenticated')
  }
  await pass(-LONG)
  for (const cell of [0, 1]) assert.equal(await logIn(cell, 'alice', 'secret'), 'to wait')
  await pass(LONG + 1)
  assert.equal(await logIn(0, 'alice', 'guess'), 'unauthenticated')
  await pass(-LONG)
  assert.equal(await logIn(1, 'alice', 'guess'), 'to wait')
  await pass(LONG + 2)
  assert.equal(await logIn(1, 'alice', 'secret'), 'in')
  assert.equal(await logIn(0, 'alice', 'guess'), 'unauthenticated', 'all is forgiven')
  assert.equal(await logIn(0, 'alice', 'secret'), 'in')
})

test('guessing locks out neither other users nor the account’s owner at another network', async () => {
  await using cells = await openCells()
  const { logIn, pass } = cells
  for (let n = 0; n < FREE_FAILURES; n += 1) await logIn(0, 'alice', 'guess')
  await pass(-LONG)
  assert.equal(await logIn(0, 'alice', 'guess'), 'to wait')
  assert.equal(await logIn(0, 'bob', 'secret'), 'in', 'another account from there')
  assert.equal(await logIn(0, 'alice', 'secret', '10.0.0.2'), 'in', 'the account from elsewhere')
  assert.equal(await logIn(1, 'alice', 'secret'), 'to wait', 'which does not reset the delay there')
})

test('the response for a missing account is the same as for an existing one', async () => {
  await using cells = await openCells()
  const answers = async (user: string) => {
    const all: unknown[] = []
    for (let n = 0; n < FREE_FAILURES; n += 1) all.push(await cells.logIn(n % 2, user, 'guess'))
    await cells.pass(-LONG)
    return [...all, await cells.logIn(0, user, 'guess')]
  }
  assert.deepEqual(await answers('nobody'), await answers('alice'))
})

test('the delay doubles up to 15 minutes: at most 20 guesses are checked in an hour', async () => {
  await using cells = await openCells()
  const key = Buffer.from('one')
  const waits: number[] = []
  let seconds = 0
  for (let n = 0; seconds < 3600; n += 1) {
    await recordFailure(cells.db, key)
    const wait = await cells.waitOf(key)
    waits.push(wait)
    seconds += wait
    await cells.pass(wait)
  }
  assert.deepEqual(waits, [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900])
  await cells.pass(3601)
  await recordFailure(cells.db, key)
  assert.equal(await cells.waitOf(key), 0, 'an hour later the count starts from zero')
})

test('simultaneous guesses are not all checked at once', async (t) => {
  await using cells = await openCells()
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => cells.logIn(n % 2, 'alice', `guess ${n}`)),
  )
  const refused = answers.filter((answer) => answer === 'to wait').length
  const looked = await cells.guesses()
  t.diagnostic(`${looked} of 200 reached the password check`)
  assert.equal(looked + refused, 200)
  assert.ok(looked <= FREE_FAILURES + 4, `${looked} were looked at`)
})

test('the same account may log in many times at once', async () => {
  await using cells = await openCells()
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, n) => cells.logIn(n % 2, 'alice', 'secret')),
  )
  assert.deepEqual(new Set(answers), new Set(['in']))
  assert.equal(await cells.guesses(), 0)
})

test('expired failures are deleted', async () => {
  await using cells = await openCells()
  await cells.logIn(0, 'alice', 'guess')
  assert.equal(await deleteExpired(cells.db), 0)
  await cells.pass(3601)
  assert.equal(await deleteExpired(cells.db), 1)
})

test('IPv6 addresses are counted by network, IPv4 addresses one by one', () => {
  const networks = {
    '10.1.2.3': '10.1.2.3',
    '::ffff:10.1.2.3': '10.1.2.3',
    '2001:db8:0:1::7': '2001:db8:0:1::/64',
    '2001:0DB8:0000:0001:ffff::1': '2001:db8:0:1::/64',
    '2001:db8::1': '2001:db8:0:0::/64',
    '::1': '0:0:0:0::/64',
    'fe80::1%eth0': 'fe80:0:0:0::/64',
  }
  for (const [address, network] of Object.entries(networks)) {
    assert.equal(networkOf(address), network)
  }
})

/** Password checks that end when the test resolves them. */
function steppedChecks() {
  const time = { now: 0 }
  const queue = new CheckQueue({ now: () => time.now, sharedAddresses: ['10.9.9.9'] })
  const running: { readonly address: string; end(right: boolean): Promise<void> }[] = []
  const take = (address: string) => {
    const over = queue
      .take(address, () => {
        const { promise, resolve } = Promise.withResolvers<true | undefined>()
        const end = async (right: boolean) => {
          running.splice(running.indexOf(entry), 1)
          resolve(right || undefined)
          await over
          await settled()
        }
        const entry = { address, end }
        running.push(entry)
        return promise
      })
      .then(
        (right) => (right ? 'in' : 'wrong'),
        (error: Fault) => error.detail ?? '',
      )
    return over
  }
  const settled = () => new Promise((resolve) => void setImmediate(resolve))
  const addresses = async () => {
    await settled()
    return running.map(({ address }) => address)
  }
  const endAll = async (right: boolean) => {
    await settled()
    while (running.length > 0) await running[0]?.end(right)
  }
  return { time, take, running, addresses, endAll }
}

test('a network without a recent login runs one check at a time, and others overtake it', async () => {
  const { take, addresses, running, endAll } = steppedChecks()
  const guesses = Array.from({ length: 100 }, () => take('10.0.0.1'))
  assert.deepEqual(await addresses(), ['10.0.0.1'])
  void take('10.0.0.2')
  assert.deepEqual(await addresses(), ['10.0.0.1', '10.0.0.2'])
  void take('10.0.0.3')
  assert.deepEqual(await addresses(), ['10.0.0.1', '10.0.0.2'], 'the third slot is reserved')
  await running[0]?.end(false)
  assert.deepEqual(await addresses(), ['10.0.0.2', '10.0.0.3'], 'one network after another')
  await endAll(false)
  const answers = await Promise.all(guesses)
  const looked = answers.filter((answer) => answer === 'wrong').length
  assert.equal(looked, checkBounds.freeFailures, 'then it must pause')
  assert.deepEqual(new Set(answers), new Set(['wrong', '2', '5']))
})

test('networks with a recent login come first, while thousands of others guess', async () => {
  const { take, addresses, running, endAll } = steppedChecks()
  const first = take('10.0.0.1')
  await addresses()
  await running[0]?.end(true)
  assert.equal(await first, 'in')
  const guesses = Array.from({ length: 5000 }, (_, n) => take(`10.1.${n >> 8}.${n & 255}`))
  assert.equal((await addresses()).length, checkBounds.runningUnknown)
  const right = take('10.0.0.1')
  assert.equal((await addresses()).at(-1), '10.0.0.1', 'at once')
  await running.at(-1)?.end(true)
  assert.equal(await right, 'in')
  await endAll(false)
  const refused = (await Promise.all(guesses)).filter((answer) => answer === '5').length
  assert.equal(refused, 5000 - checkBounds.waiting - checkBounds.runningUnknown)
})

test('a network has a budget of wrong passwords over all names, which recovers slowly', async () => {
  const { time, take, addresses, running } = steppedChecks()
  const fail = async (address: string) => {
    const answer = take(address)
    await addresses()
    await running[0]?.end(false)
    return answer
  }
  const { failures, failureMs, freeFailures, pauseMs } = checkBounds
  for (let n = 0; n < freeFailures; n += 1) assert.equal(await fail('10.0.0.1'), 'wrong')
  assert.equal(await take('10.0.0.1'), '2', 'not checked, for 2 s')
  assert.equal(await fail('10.0.0.2'), 'wrong', 'another network')
  let looked = freeFailures
  const hour = 3_600_000
  for (; time.now < hour; time.now += pauseMs) {
    if ((await fail('10.0.0.1')) === 'wrong') looked += 1
  }
  const most = failures + hour / failureMs
  assert.ok(looked > 0.9 * most && looked <= most + 1, `${looked} in an hour`)
  for (let n = 0; n < 2 * checkBounds.failures; n += 1) {
    assert.equal(await fail('10.9.9.9'), 'wrong', 'an address shared by many has no such limit')
  }
})
