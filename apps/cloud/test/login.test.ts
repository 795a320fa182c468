// Goal: nobody guesses passwords at the cloud, and nobody keeps another out by guessing. Method: two cells' sessions on one real
// Postgres; time passes in the table. What reaches the password check is what is counted there.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import { sql } from 'kysely'

import { makeCheck } from '../src/identity/credentials.ts'
import { Lanes } from '../src/identity/lanes.ts'
import { networkOf } from '../src/identity/network-of.ts'
import { hashPassword } from '../src/identity/password.ts'
import { makeSessions } from '../src/identity/sessions.ts'
import { keepHouse } from '../src/reconcile/house.ts'
import { FREE_FAILURES, recordFailure } from '../src/store/login-failures.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'

/** Seconds, more than any test takes: what is to wait waits still when it is looked at. */
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
  const { org } = cloud.who
  for (const name of ['alice', 'bob']) {
    await db.insertInto('account').values({ org, name, role: 'author', password }).execute()
  }
  const cells = [1, 2].map(() =>
    makeSessions(db, () => randomBytes(32).toString('base64url'), makeCheck(db, password)),
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
  /** As if so long had gone by since. */
  const pass = (seconds: number) =>
    sql`update login_failure set until = until - make_interval(secs => ${seconds}),
      last_at = last_at - make_interval(secs => ${seconds})`.execute(db)
  const guesses = async () =>
    (await db.selectFrom('login_failure').select('failures').execute()).reduce(
      (sum, { failures }) => sum + failures,
      0,
    )
  /** How long was to be waited when it was counted. */
  const waitOf = async (key: Buffer) => {
    const { rows } = await sql<{
      wait: string
    }>`select round(extract(epoch from until - last_at)) as wait
      from login_failure where key = ${key}`.execute(db)
    return Number(rows[0]?.wait)
  }
  return { ...cloud, logIn, pass, guesses, waitOf }
}

test('after five wrong passwords at any cell nothing is tried for a while, not even the right one', async () => {
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

test('who guesses keeps out neither others nor the account’s owner elsewhere', async () => {
  await using cells = await openCells()
  const { logIn, pass } = cells
  for (let n = 0; n < FREE_FAILURES; n += 1) await logIn(0, 'alice', 'guess')
  await pass(-LONG)
  assert.equal(await logIn(0, 'alice', 'guess'), 'to wait')
  assert.equal(await logIn(0, 'bob', 'secret'), 'in', 'another account from there')
  assert.equal(await logIn(0, 'alice', 'secret', '10.0.0.2'), 'in', 'the account from elsewhere')
  assert.equal(await logIn(1, 'alice', 'secret'), 'to wait', 'which forgives nothing there')
})

test('an account that is not there is answered like one that is', async () => {
  await using cells = await openCells()
  const answers = async (user: string) => {
    const all: unknown[] = []
    for (let n = 0; n < FREE_FAILURES; n += 1) all.push(await cells.logIn(n % 2, user, 'guess'))
    await cells.pass(-LONG)
    return [...all, await cells.logIn(0, user, 'guess')]
  }
  assert.deepEqual(await answers('nobody'), await answers('alice'))
})

test('the wait doubles to a quarter of an hour: in an hour at most 20 guesses are looked at', async () => {
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
  assert.equal(await cells.waitOf(key), 0, 'an hour later it begins anew')
})

test('guesses that come all at once are not looked at all at once', async (t) => {
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

test('what was forgotten is cleared away', async () => {
  await using cells = await openCells()
  await cells.logIn(0, 'alice', 'guess')
  assert.equal(await keepHouse(cells.db), 0)
  await cells.pass(3601)
  assert.equal(await keepHouse(cells.db), 1)
})

test('with IPv6 the network counts, and an IPv4 address is itself', () => {
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

test('only so many of a name go on at a time, and a failure lets the next one go on', async () => {
  const lanes = new Lanes(2)
  let [now, most] = [0, 0]
  const work = async (fails: boolean) => {
    most = Math.max(most, (now += 1))
    await Promise.resolve()
    now -= 1
    if (fails) throw new Error('no')
  }
  const all = Array.from({ length: 9 }, (_, n) => lanes.take('a', () => work(n % 2 === 0)))
  const ended = await Promise.allSettled(all)
  assert.equal(ended.filter(({ status }) => status === 'rejected').length, 5)
  assert.deepEqual([now, most], [0, 2])
})
