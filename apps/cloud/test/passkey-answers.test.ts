// Goal: no page, script or neighbour gets a passkey accepted that a browser would not have made here, and no answer of a browser, however
// malformed, does harm. Method: an authenticator that lies as a test wants, the requests of a page over HTTP, and a real PostgreSQL.
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'

import { sql } from 'kysely'

import { FactorUsers, type User } from './factor-users.ts'
import { enrolPasskey, PasskeyPage } from './passkey-page.ts'
import { SoftAuthenticator, type CreationOptions, type Lies } from './soft-authenticator.ts'
import { BASE, openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
let users: FactorUsers
before(async () => {
  api = await openTenantsApi()
  users = await FactorUsers.of(api)
})
after(() => api[Symbol.asyncDispose]())
afterEach(() => users.reset())

const enrol = (user: User) => enrolPasskey(api, users, user)
const fresh = ({ from }: User): PasskeyPage => new PasskeyPage(api, { from })

test('a new passkey needs a challenge of its own user and browser, this site, a PIN or a finger, and a key that was asked for', async () => {
  const user = await users.add()
  const page = new PasskeyPage(api, { token: await users.enter(user), from: user.from })
  const refused = async (lies: Lies, authenticator = new SoftAuthenticator()) => {
    const { status, text } = await page.add(authenticator, 'laptop', lies)
    assert.equal(status, 400, text)
    assert.match(text, /this passkey was not accepted/)
  }
  await refused({ origin: 'https://evil.example' })
  await refused({ crossOrigin: true })
  await refused({ site: 'evil.example' })
  await refused({ type: 'webauthn.get' })
  await refused({ flags: 0x04 })
  await refused({ flags: 0x01 })
  await refused({ credential: randomBytes(16) })
  await refused({ challenge: randomBytes(32).toString('base64url') })
  for (const kind of ['p384', 'rsa1024', 'x25519'] as const) {
    await refused({}, new SoftAuthenticator(kind))
  }
  const authenticator = new SoftAuthenticator()
  const options = async (from: PasskeyPage) =>
    (await from.askForNew()).value as unknown as CreationOptions
  const add = async (by: PasskeyPage, passkey: object) =>
    (await by.post('/login/passkeys', { name: 'laptop', passkey })).status
  const colleague = new PasskeyPage(api, {
    token: await users.enter(await users.add()),
    from: user.from,
  })
  await colleague.ask()
  const made = authenticator.make(await options(page))
  assert.equal(await add(colleague, made), 400, 'of another user and browser')
  assert.equal(await add(page, made), 400, 'it was taken')
  const shown = { ...(await page.ask()), rp: { id: 'cloud.example' }, user: { id: 'AAAA' } }
  assert.equal(await add(page, authenticator.make(shown)), 400, 'asked for as a login')
  const good = authenticator.make(await options(page))
  assert.deepEqual(
    (await Promise.all([add(page, good), add(page, good)])).toSorted((a, b) => a - b),
    [201, 400],
    'two at once',
  )
  const held = authenticator.held
  const asked = await options(page)
  assert.equal(asked.challenge, undefined, 'a code is needed now')
  assert.ok(held)
  const login = fresh(user)
  const adding = await colleague.askForNew()
  const turned = { challenge: String(adding.value['challenge']), rpId: 'cloud.example' }
  login.cookies.set('__Host-cloud-login', colleague.cookies.get('__Host-cloud-login') ?? '')
  const misused = await login.post('/login/passkey', authenticator.show(turned))
  assert.equal(misused.status, 401, 'a challenge for a new passkey')
})

test('what is not the answer of a browser is invalid, whatever its size, and nothing more happens', async () => {
  const user = await users.add()
  const { authenticator, page } = await enrol(user)
  const shown = authenticator.show(await page.ask())
  const text64 = (text: string | Buffer) => Buffer.from(text).toString('base64url')
  const client = (value: unknown) => ({ clientDataJSON: text64(JSON.stringify(value)) })
  const responses: readonly object[] = [
    { clientDataJSON: undefined },
    { clientDataJSON: 'no base64!' },
    { clientDataJSON: text64('{') },
    client(null),
    client([]),
    client({ type: 'webauthn.get', challenge: 1, origin: BASE }),
    { clientDataJSON: 'A'.repeat(900_000) },
    { authenticatorData: '' },
    { authenticatorData: text64(randomBytes(36)) },
    { authenticatorData: text64(randomBytes(9000)) },
    // The flag of a new passkey, without one, and with a name that is longer than the data.
    {
      authenticatorData: text64(
        Buffer.concat([Buffer.alloc(32), Buffer.from('4500000001', 'hex')]),
      ),
    },
    {
      authenticatorData: text64(
        Buffer.concat([
          Buffer.alloc(32),
          Buffer.from('4500000001', 'hex'),
          Buffer.alloc(16, 0),
          Buffer.from('ffff', 'hex'),
        ]),
      ),
    },
    { signature: 'A'.repeat(100_000) },
    { signature: [] },
    { userHandle: null },
    { userHandle: text64(randomBytes(65)) },
    { userHandle: 'AAA=' },
  ]
  const bodies: readonly unknown[] = [
    '',
    'null',
    '[]',
    '"passkey"',
    '{',
    '['.repeat(100_000),
    { ...shown, rawId: undefined },
    { ...shown, rawId: 'A'.repeat(2000) },
    { ...shown, response: null },
    ...responses.map((part) => ({ ...shown, response: { ...shown.response, ...part } })),
  ]
  for (const body of bodies) {
    const what = JSON.stringify(body).slice(0, 200)
    assert.equal((await page.post('/login/passkey', body)).status, 400, what)
    assert.equal((await page.post('/login/passkey/proof', body)).status, 400, what)
    const added = await page.post('/login/passkeys', { name: 'laptop', passkey: body })
    assert.equal(added.status, 400, what)
  }
  const large = await page.post('/login/passkey', 'A'.repeat(1_100_000))
  assert.equal(large.status, 400)
  const events = await users.eventsOf(user)
  assert.ok(!events.some(({ kind }) => kind === 'session.refused'))
})

test('only a page of this cloud asks for passkeys and shows them', async () => {
  const user = await users.add()
  const { authenticator, page } = await enrol(user)
  const others = [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: '' },
  ]
  for (const headers of others) {
    const what = JSON.stringify(headers)
    authenticator.counter += 1
    const shown = authenticator.show(await page.ask())
    assert.equal((await page.post('/login/passkey/challenge', {}, headers)).status, 403, what)
    assert.equal((await page.post('/login/passkey', shown, headers)).status, 403, what)
    for (const path of ['passkey/proof', 'passkeys/challenge', 'passkeys']) {
      assert.equal((await page.post(`/login/${path}`, shown, headers)).status, 401, what)
    }
  }
  const [, second] = api.spoken
  const elsewhere = await second.ask('POST', '/login/passkey/challenge')
  assert.equal(elsewhere.status, 404, 'the listener of the original API has no pages')
})

test('what an authenticator stores names no one, and no row has a challenge or a proof that could be used', async () => {
  const user = await users.add()
  const { authenticator, page } = await enrol(user)
  const { challenge } = await page.ask()
  const proof = String((await page.prove(authenticator)).value['code'])
  const handle = Buffer.from(authenticator.held?.user ?? '', 'base64url').toString('hex')
  assert.equal(handle, `${user.org}${user.account}`.replaceAll('-', ''))
  const { rows } = await sql<{
    row: string
  }>`select to_jsonb(passkey_challenge)::text as row from passkey_challenge
    union all select to_jsonb(passkey_proof)::text from passkey_proof
    union all select to_jsonb(event)::text from event`.execute(api.cloud.db)
  const all = rows.map(({ row }) => row).join('\n')
  for (const secretText of [challenge, proof]) {
    assert.ok(!all.includes(secretText))
    assert.ok(!all.includes(Buffer.from(secretText, 'base64url').toString('hex')))
  }
  assert.ok(all.includes(createHash('sha256').update(proof).digest('hex')))
})
