// Goal: a passkey logs its user in without a password, is a second factor as an app is, and ends with what ends access. Method: an
// authenticator as software, the requests of a page over HTTP, and a real PostgreSQL.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'

import { attribute } from '@skerry/xml'
import { sql } from 'kysely'

import { hasPasskeys } from '../src/auth/passkeys.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { codeNow } from './factor-row.ts'
import { codeOf, FACTORS, FactorUsers, type User } from './factor-users.ts'
import { enrolPasskey, PasskeyPage, type Got } from './passkey-page.ts'
import { SoftAuthenticator } from './soft-authenticator.ts'
import { find, hrefOf, pathOf, read, type TenantsApi } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

let flow: TestWorkflowApi
let api: TenantsApi
let users: FactorUsers
before(async () => {
  flow = await openTestWorkflowApi()
  ;({ api } = flow)
  users = await FactorUsers.of(api)
})
after(() => flow[Symbol.asyncDispose]())
afterEach(() => users.reset())

const codesIn = ({ value }: Got): readonly string[] => value['code'] as readonly string[]

const enrol = (user: User, authenticator?: SoftAuthenticator) =>
  enrolPasskey(api, users, user, authenticator)

const fresh = ({ from }: User): PasskeyPage => new PasskeyPage(api, { from })

const sessionOf = async ({ token }: PasskeyPage): Promise<string | undefined> => {
  const { status, text } = await users.send('GET', '/api/session', token)
  return status === 200 ? /user="([^"]*)"/.exec(text)?.[1] : undefined
}

for (const kind of ['ed25519', 'p256', 'rsa'] as const) {
  test(`a passkey with an ${kind} key logs in without a password, and an event names it`, async () => {
    const user = await users.add()
    const { authenticator, codes } = await enrol(user, new SoftAuthenticator(kind))
    assert.equal(codes.length, 10)
    const page = fresh(user)
    const done = await page.logIn(authenticator)
    assert.equal(done.status, 200, done.text)
    assert.deepEqual(done.value, {}, 'the token is in the cookie alone')
    const cookies = [done.headers['set-cookie']].flat().join('\n')
    assert.match(cookies, /^__Host-cloud-token=[^;]+; Secure; Path=\/; HttpOnly; SameSite=Strict$/m)
    assert.equal(await sessionOf(page), user.name)
    const begun = (await users.eventsOf(user)).filter((each) => each.kind === 'session.begun')
    assert.deepEqual(begun.at(-1)?.details, { by: user.name, from: user.from, passkey: 'laptop' })
  })
}

test('the cloud asks for a passkey that is stored with its user, a PIN or a finger, and lists no one', async () => {
  const user = await users.add()
  await enrol(user)
  const asked = await fresh(user).post('/login/passkey/challenge', {})
  const { challenge, ...rest } = asked.value
  assert.match(String(challenge), /^[\w-]{43}$/)
  assert.deepEqual(rest, {
    rpId: 'cloud.example',
    timeout: 300_000,
    userVerification: 'required',
    allowCredentials: [],
  })
})

test('a passkey is listed and removed as an app is, by its own proof; then it logs in no more', async () => {
  const user = await users.add()
  const { page, authenticator } = await enrol(user)
  const alone = await users.logIn(user)
  assert.deepEqual([alone.status, codeOf(alone)], [401, 'SECOND_FACTOR'])
  const [listed, ...others] = find(
    read(await users.send('GET', FACTORS, page.token)),
    'SecondFactor',
  )
  assert.deepEqual(others, [])
  assert.deepEqual(
    ['name', 'kind', 'confirmed'].map((name) => attribute(listed, name)),
    ['laptop', 'PASSKEY', 'true'],
  )
  const path = pathOf(hrefOf(listed))
  assert.equal((await users.confirm(page.token, path, '123456')).status, 409)
  assert.equal(codeOf(await users.send('DELETE', path, page.token)), 'SECOND_FACTOR')
  assert.equal((await users.send('DELETE', path, page.token, undefined, '000000')).status, 403)
  const proof = String((await page.prove(authenticator)).value['code'])
  const other = await users.addGuarded()
  const stranger = await users.enter(other)
  const theirs = `${FACTORS}/${other.factor}`
  const tried = await users.send('DELETE', theirs, stranger, undefined, proof)
  assert.equal(tried.status, 403, 'the proof of another user')
  assert.equal((await users.send('DELETE', path, page.token, undefined, proof)).status, 204)
  assert.equal((await fresh(user).logIn(authenticator)).status, 401)
  const after = await users.logIn(user)
  assert.equal(after.status, 200, 'the password alone logs in again')
  const list = read(await users.send('GET', FACTORS, after.token))
  assert.equal(attribute(list, 'recoveryCodesLeft'), '0')
})

test('who has a second factor proves it before another passkey is made, and a proof counts once and for five minutes', async () => {
  const user = await users.addGuarded()
  const token = await users.enter(user)
  const page = new PasskeyPage(api, { token, from: user.from })
  const first = new SoftAuthenticator()
  const without = await page.add(first, 'laptop')
  assert.deepEqual([without.status, without.value['minorErrorCode']], [401, 'SECOND_FACTOR'])
  assert.equal((await page.add(first, 'laptop', { code: '000000' })).status, 403)
  const added = await page.add(first, 'laptop', { code: codeNow() })
  assert.deepEqual([added.status, codesIn(added)], [201, []])
  const prove = async () => String((await page.prove(first)).value['code'])
  const proof = await prove()
  assert.equal((await page.add(new SoftAuthenticator(), 'key', { code: proof })).status, 201)
  assert.equal((await page.add(new SoftAuthenticator(), 'spare', { code: proof })).status, 403)
  const twice = await prove()
  const both = await Promise.all([page.askForNew(twice), page.askForNew(twice)])
  assert.deepEqual(
    both.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 403],
  )
  const late = await prove()
  await sql`update passkey_proof set began_at = began_at - interval '5 min'`.execute(api.cloud.db)
  assert.equal((await page.askForNew(late)).status, 403)
})

test('a first factor that comes meanwhile must be proved; the first passkey ends others that were begun', async () => {
  const user = await users.add()
  const token = await users.enter(user)
  const page = new PasskeyPage(api, { token, from: user.from })
  const authenticator = new SoftAuthenticator()
  const asked = await page.askForNew()
  const { path } = await users.enrol(user)
  const passkey = authenticator.make(asked.value as never)
  const late = await page.post('/login/passkeys', { name: 'laptop', passkey })
  assert.deepEqual([late.status, late.value['minorErrorCode']], [401, 'SECOND_FACTOR'])
  assert.equal((await users.send('GET', path, token)).status, 200)

  const other = await users.add()
  const begun = await users.enter(other)
  const foreign = pathOf(hrefOf(read(await users.addFactor(begun, 'of a thief'), 201)))
  await enrol(other)
  assert.equal((await users.send('GET', foreign, begun)).status, 404)
})

test('five second factors of a user, apps and passkeys together; a name is taken once', async () => {
  const user = await users.add()
  const { page, authenticator } = await enrol(user)
  const add = async (name: string) => {
    const code = String((await page.prove(authenticator)).value['code'])
    return (await page.add(new SoftAuthenticator(), name, { code })).status
  }
  assert.equal(await add('laptop'), 409)
  assert.equal(await add(' '), 400)
  for (const name of ['b', 'c', 'd', 'e']) assert.equal(await add(name), 201)
  assert.equal(await add('f'), 409)
})

test('where a second factor is required, a passkey is one, and ends the limits of the session at once', async () => {
  const user = await users.add()
  await sql`update org set second_factor_required = true where id = ${api.eng.org}`.execute(
    api.cloud.db,
  )
  const token = await users.enter(user)
  assert.equal((await users.send('GET', '/api/org', token)).status, 403)
  const { authenticator } = await enrol(user)
  assert.equal((await users.send('GET', '/api/org', token)).status, 200)
  const page = fresh(user)
  assert.equal((await page.logIn(authenticator)).status, 200)
  assert.equal((await users.send('GET', '/api/org', page.token)).status, 200)
})

test('an administrator removes the passkeys of a user, and a new password ends them too', async () => {
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  const removed = await users.add()
  const one = await enrol(removed)
  const remove = `/api/admin/user/${removed.account}/action/removeSecondFactors`
  assert.equal((await users.send('POST', remove, chief)).status, 204)
  assert.equal((await fresh(removed).logIn(one.authenticator)).status, 401)

  const changed = await users.add()
  const two = await enrol(changed)
  const body = '<User><Password>a longer new secret</Password></User>'
  const done = await users.send('PUT', `/api/admin/user/${changed.account}`, chief, body)
  assert.equal(done.status, 200, done.text)
  assert.equal((await fresh(changed).logIn(two.authenticator)).status, 401)
  assert.equal((await users.logIn(changed, { password: 'a longer new secret' })).status, 200)
  const { rows } = await sql`select from recovery_code where account = ${changed.account}`.execute(
    api.cloud.db,
  )
  assert.equal(rows.length, 0)
  const ended = (await users.eventsOf(changed)).filter(
    ({ kind }) => kind === 'second-factor.removed',
  )
  assert.deepEqual(
    ended.map(({ details }) => details),
    [{ user: changed.name, name: 'laptop', why: 'new-password' }],
  )
})

test('an API token, and a user of an identity server, have no passkeys', async () => {
  const user = await users.add()
  const { token } = await users.logIn(user)
  const body = '<AccessTokenParams name="nightly"/>'
  const made = await users.send('POST', '/api/session/tokens', token, body)
  const script = /<Token>([^<]+)</.exec(made.text)?.[1] ?? ''
  const session = await users.logIn(user, { password: script })
  for (const own of [script, session.token, '']) {
    const refused = await new PasskeyPage(api, { token: own, from: user.from }).askForNew()
    assert.equal(refused.status, own === session.token ? 403 : 401, refused.text)
  }
  await sql`update account set provider = ${api.eng.ids['provider']}, subject = ${user.name}, password = null
    where id = ${user.account}`.execute(api.cloud.db)
  const page = new PasskeyPage(api, { token: await users.enter(user), from: user.from })
  const refused = await page.add(new SoftAuthenticator(), 'laptop')
  assert.equal(refused.status, 409)
  assert.match(refused.text, /an identity server proves this user/)
})

test('a workflow server learns at once that the password alone does not count any more', async () => {
  const user = await users.add()
  const ask = () =>
    flow.tell('POST', '/machine/v1/credentials', {
      user: user.name,
      org: 'eng',
      password: 'secret',
      address: user.from,
    })
  const accepted = await ask()
  assert.equal(accepted.status, 200)
  await enrol(user)
  const stamp = async () => (await flow.tell('GET', '/machine/v1/accounts/stamp')).body['stamp']
  assert.notEqual(await stamp(), accepted.body['stamp'])
  assert.equal((await ask()).body['error'], 'second-factor')
})

test('a recovery code takes the place of a passkey beside the password, once', async () => {
  const user = await users.add()
  const { codes } = await enrol(user)
  assert.equal((await users.logIn(user, { code: codes[0] ?? '' })).status, 200)
  assert.equal((await users.logIn(user, { code: codes[0] ?? '' })).status, 401)
})

test('what was begun and not answered is deleted after an hour', async () => {
  const user = await users.add()
  const { page, authenticator } = await enrol(user)
  await page.ask()
  await page.prove(authenticator)
  const left = async () => {
    const { rows } = await sql<{
      left: number
    }>`select (select count(*) from passkey_challenge)::integer
      + (select count(*) from passkey_proof)::integer as left`.execute(api.cloud.db)
    return rows[0]?.left
  }
  assert.ok(Number(await left()) >= 2)
  for (const table of ['passkey_challenge', 'passkey_proof']) {
    await sql`update ${sql.table(table)} set began_at = began_at - interval '61 min'`.execute(
      api.cloud.db,
    )
  }
  await deleteExpired(api.cloud.db)
  assert.equal(await left(), 0)
})

test('a cloud at an IP address has no passkeys: browsers make none for it', () => {
  for (const [base, has] of [
    ['https://cloud.example', true],
    ['https://localhost:8443', true],
    ['https://192.0.2.1', false],
    ['https://[2001:db8::1]:8443', false],
  ] as const) {
    assert.equal(hasPasskeys(new URL(base)), has, base)
  }
})
