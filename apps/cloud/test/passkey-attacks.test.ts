// Goal: nothing but a passkey of an account that may log in, shown now in the browser that was asked, lets anybody in; every wrong one is
// answered alike. Method: an authenticator that lies as a test wants, the requests of a page over HTTP, and a real PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'

import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { Passkeys } from '../src/auth/passkeys.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { FACTORS, FactorUsers, type User } from './factor-users.ts'
import { prolongWaits } from './login-waits.ts'
import { secret } from './pages-of.ts'
import { enrolPasskey, PasskeyPage, type Got } from './passkey-page.ts'
import { SoftAuthenticator, type Lies } from './soft-authenticator.ts'
import { BASE, find, hrefOf, openTenantsApi, pathOf, read, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let users: FactorUsers
before(async () => {
  api = await openTenantsApi()
  users = await FactorUsers.of(api)
})
after(() => api[Symbol.asyncDispose]())
afterEach(() => users.reset())

const enrol = (user: User, authenticator?: SoftAuthenticator) =>
  enrolPasskey(api, users, user, authenticator)
const fresh = ({ from }: User): PasskeyPage => new PasskeyPage(api, { from })

/** Why logins of the user were refused, as administrators read it. */
async function whysOf(user: User): Promise<readonly unknown[]> {
  const refused = (await users.eventsOf(user)).filter(({ kind }) => kind === 'session.refused')
  return refused.map(({ details }) => (details as { why?: unknown }).why)
}

/** What every wrong passkey is answered: nothing in it depends on the reason. */
function assertRefused({ status, value, headers }: Got, what: string): void {
  assert.equal(status, 401, what)
  assert.match(
    String(value['message']),
    /^this passkey does not log in here; log in with the/,
    what,
  )
  assert.equal(headers['set-cookie'], undefined, what)
}

test('lies of a page and of an authenticator are refused alike; administrators read why', async () => {
  const user = await users.add()
  const { authenticator } = await enrol(user)
  const lies: readonly (readonly [string, Lies])[] = [
    ['origin', { origin: 'https://evil.example' }],
    ['origin', { origin: `${BASE}:8443` }],
    ['origin', { origin: 'http://cloud.example' }],
    ['origin', { origin: 'https://sub.cloud.example' }],
    ['origin', { crossOrigin: true }],
    ['site', { site: 'evil.example' }],
    ['site', { site: 'example' }],
    ['use', { type: 'webauthn.create' }],
    ['present', { flags: 0x04 }],
    ['verified', { flags: 0x01 }],
    ['challenge', { challenge: randomBytes(32).toString('base64url') }],
  ]
  for (const [n, [why, lie]] of lies.entries()) {
    // From networks of their own, each of which may fail some times.
    const page = new PasskeyPage(api, { from: `127.0.7.${n + 1}` })
    assertRefused(await page.logIn(authenticator, lie), JSON.stringify(lie))
    assert.equal((await whysOf(user)).at(-1), why, JSON.stringify(lie))
  }
  assert.equal((await fresh(user).logIn(authenticator)).status, 200)
})

test('a bent signature, data that was not signed, and a key of somebody else are refused', async () => {
  const user = await users.add()
  const { authenticator } = await enrol(user)
  const page = fresh(user)
  const sent = async (change: (shown: ReturnType<SoftAuthenticator['show']>) => object) => {
    authenticator.counter += 1
    return page.post('/login/passkey', change(authenticator.show(await page.ask())))
  }
  const bent = (text: string, at: number): string =>
    Buffer.from(
      Buffer.from(text, 'base64url').map((byte, n) => (n === at ? byte ^ 1 : byte)),
    ).toString('base64url')
  const changes = [
    (response: Record<string, string>) => ({ signature: bent(response['signature'] ?? '', 20) }),
    // The lowest byte of the counter, and a flag of no meaning.
    (response: Record<string, string>) => ({
      authenticatorData: bent(response['authenticatorData'] ?? '', 36),
    }),
    () => ({ signature: randomBytes(64).toString('base64url') }),
  ]
  for (const change of changes) {
    const answer = await sent((shown) => ({
      ...shown,
      response: { ...shown.response, ...change(shown.response) },
    }))
    assertRefused(answer, String(change))
    assert.equal((await whysOf(user)).at(-1), 'signature')
  }
  await users.reset()
  const { held } = authenticator
  const stranger = new SoftAuthenticator()
  stranger.make({ challenge: 'x', rp: { id: 'cloud.example' }, user: { id: held?.user ?? '' } })
  stranger.counter = 1000
  assertRefused(await fresh(user).logIn(stranger), 'a passkey that nobody added')
  assertRefused(
    await fresh(user).logIn(stranger, { credential: held?.credential ?? Buffer.alloc(1) }),
    'the name of the passkey, another key',
  )
  assert.equal((await whysOf(user)).at(-1), 'signature')
})

test('a passkey is of its user alone: with the handle of another user it is unknown', async () => {
  const [user, other] = [await users.add(), await users.add()]
  const { authenticator } = await enrol(user)
  const { authenticator: theirs, page } = await enrol(other)
  assertRefused(
    await fresh(user).logIn(authenticator, { userHandle: theirs.held?.user ?? '' }),
    'the handle of another user',
  )
  for (const handle of [randomBytes(32), Buffer.from('short'), randomBytes(64)]) {
    const userHandle = handle.toString('base64url')
    assertRefused(await fresh(user).logIn(authenticator, { userHandle }), 'a handle of nobody')
  }
  assert.deepEqual(await whysOf(other), [])
  const proof = await page.prove(authenticator)
  assert.equal(proof.status, 403)
  assert.match(proof.text, /of another user/)
})

test('an answer counts once, in the browser that was asked, and for five minutes', async () => {
  const user = await users.add()
  const { authenticator, page: own } = await enrol(user)
  const page = fresh(user)
  authenticator.counter += 1
  const answer = authenticator.show(await page.ask())
  const thief = fresh(user)
  await thief.ask()
  assertRefused(await thief.post('/login/passkey', answer), 'another browser')
  assertRefused(await page.post('/login/passkey', answer), 'it counts once, in any browser')
  authenticator.counter += 1
  const again = authenticator.show(await page.ask())
  assert.equal((await page.post('/login/passkey', again)).status, 200)
  assertRefused(await page.post('/login/passkey', again), 'a replay')
  assert.equal((await own.post('/login/passkey/proof', again)).status, 403, 'a replay as a proof')
  authenticator.counter += 1
  const late = authenticator.show(await page.ask())
  await sql`update passkey_challenge set began_at = began_at - interval '5 min'`.execute(
    api.cloud.db,
  )
  assertRefused(await page.post('/login/passkey', late), 'too late')
  authenticator.counter += 1
  const bare = authenticator.show(await page.ask())
  assertRefused(await fresh(user).post('/login/passkey', bare), 'no cookie')
})

test('of several answers with one challenge exactly one is let in, also at two cells', async () => {
  const user = await users.add()
  const { authenticator } = await enrol(user)
  const begun: string[] = []
  const cells = [0, 1].map(
    () =>
      new Passkeys({
        db: api.cloud.db,
        sessions: { begin: async () => `session ${begun.push('')}` },
        requireProof: async () => true,
        secret,
        base: new URL(BASE),
        now: () => performance.now(),
      }),
  )
  for (let round = 0; round < 5; round += 1) {
    const browser = secret()
    const asked = await cells[0]?.ask({ browser, address: '127.0.0.1', isShared: false })
    authenticator.counter += 1
    const answers = [0, 1].map(() => authenticator.show(asked as never))
    const done = await Promise.allSettled(
      cells.flatMap((cell, at) =>
        answers.map((answer) => cell.logIn(answer, { browser, address: `192.0.2.${at}` })),
      ),
    )
    assert.equal(done.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal(begun.length, round + 1)
    await users.reset()
  }
})

test('a counter that does not go on is refused with an event; a passkey that does not count stays usable', async () => {
  const user = await users.add()
  const { authenticator } = await enrol(user)
  assert.equal((await fresh(user).logIn(authenticator, { counter: 7 })).status, 200)
  for (const counter of [7, 6, 0]) {
    assertRefused(await fresh(user).logIn(authenticator, { counter }), `${counter}`)
  }
  assert.deepEqual(await whysOf(user), ['counter', 'counter', 'counter'])
  const [event] = (await users.eventsOf(user)).filter(({ kind }) => kind === 'session.refused')
  assert.deepEqual(event?.details, {
    by: user.name,
    from: user.from,
    passkey: 'laptop',
    why: 'counter',
  })
  assert.equal((await fresh(user).logIn(authenticator, { counter: 4_294_967_295 })).status, 200)
  const synced = await users.add()
  const other = await enrol(synced)
  for (let n = 0; n < 2; n += 1) {
    assert.equal((await fresh(synced).logIn(other.authenticator, { counter: 0 })).status, 200)
  }
})

test('who is disabled, has lapsed, or was removed is refused, and a passkey that was removed', async () => {
  const user = await users.add()
  const { authenticator, page } = await enrol(user)
  const { db } = api.cloud
  const set = (what: string, value: boolean) =>
    sql`update account set ${sql.ref(what)} = ${value} where id = ${user.account}`.execute(db)
  for (const what of ['disabled', 'lapsed']) {
    await set(what, true)
    assertRefused(await fresh(user).logIn(authenticator), what)
    assert.equal((await page.prove(authenticator)).status, 401, 'its sessions have ended')
    assert.equal((await whysOf(user)).at(-1), 'barred')
    await set(what, false)
  }
  await sql`update org set disabled = true where id = ${user.org}`.execute(db)
  assertRefused(await fresh(user).logIn(authenticator), 'the organisation')
  await sql`update org set disabled = false where id = ${user.org}`.execute(db)
  const back = fresh(user)
  assert.equal((await back.logIn(authenticator)).status, 200)

  const [factor] = find(read(await users.send('GET', FACTORS, back.token)), 'SecondFactor')
  assert.equal(attribute(factor, 'kind'), 'PASSKEY')
  const proof = String((await back.prove(authenticator)).value['code'])
  const path = pathOf(hrefOf(factor))
  authenticator.counter += 1
  const begun = authenticator.show(await back.ask())
  assert.equal((await users.send('DELETE', path, back.token, undefined, proof)).status, 204)
  assertRefused(await back.post('/login/passkey', begun), 'removed after it was asked for')
  await sql`delete from account where id = ${user.account}`.execute(db)
  assertRefused(await fresh(user).logIn(authenticator), 'the user')
})

test('wrong passkeys are limited as wrong passwords are, for this user from this network', async () => {
  const user = await users.add()
  const { authenticator } = await enrol(user)
  const page = fresh(user)
  for (let n = 0; n < FREE_FAILURES; n += 1) {
    assertRefused(await page.logIn(authenticator, { flags: 1 }), `${n}`)
  }
  await prolongWaits(api.cloud.db)
  const late = await page.logIn(authenticator)
  assert.equal(late.status, 429)
  assert.ok(Number(late.headers['retry-after']) > 0)
  const elsewhere = new PasskeyPage(api, { from: '127.0.9.9' })
  assert.equal((await elsewhere.logIn(authenticator)).status, 200, 'another network')
})

test('a network cannot fill the table of challenges', async () => {
  const page = new PasskeyPage(api, { from: '127.0.8.8' })
  const done: number[] = []
  for (let n = 0; n < 66; n += 1) {
    done.push((await page.post('/login/passkey/challenge', {})).status)
  }
  assert.deepEqual(done, [...Array.from({ length: 64 }, () => 200), 429, 429])
  await new PasskeyPage(api, { from: '127.0.8.9' }).ask()
})
