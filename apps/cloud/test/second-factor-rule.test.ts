// Goal: an organisation can require a second factor, administrators remove lost ones, and a workflow server learns of them; no one reaches
// those of others. Method: over HTTP and the machine API of workflow servers, on a real PostgreSQL.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, afterEach, before, test } from 'node:test'

import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { addFactorRow, codeNow } from './factor-row.ts'
import { codeOf, FACTORS, FactorUsers } from './factor-users.ts'
import { find, linksOf, read, XML, type TenantsApi } from './tenants-api.ts'
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

type Calls = FactorUsers
const logIn: Calls['logIn'] = (...given) => users.logIn(...given)
const send: Calls['send'] = (...given) => users.send(...given)
const addFactor: Calls['addFactor'] = (...given) => users.addFactor(...given)
const confirm: Calls['confirm'] = (...given) => users.confirm(...given)
const enrol: Calls['enrol'] = (user) => users.enrol(user)
const forgetSteps = () => users.forgetSteps()
const eventsOf: Calls['eventsOf'] = (user) => users.eventsOf(user)
const ownerOf: Calls['ownerOf'] = (token) => users.ownerOf(token)

test('users whom an identity server proves have their second factor there', async () => {
  const token = await api.enter(api.eng.org, 'author')
  const name = attribute(read(await send('GET', '/api/session', token)), 'user')
  await sql`update account set provider = ${api.eng.ids['provider']}, subject = 'x', password = null
    where name = ${name}`.execute(api.cloud.db)
  const again = randomBytes(32).toString('base64url')
  await sql`insert into session (token_hash, org, account) select sha256(${again}::bytea), org, id from account
    where name = ${name}`.execute(api.cloud.db)
  const refused = await addFactor(again, 'phone')
  assert.equal(refused.status, 409)
  assert.match(refused.text, /an identity server proves this user/)
})

test('where a second factor is required, a session without one only adds one; the first one ends that', async () => {
  const user = await users.add()
  const before = await logIn(user)
  const body = '<AdminOrg><SecondFactorRequired>true</SecondFactorRequired></AdminOrg>'
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  assert.equal((await send('PUT', `/api/admin/org/${api.eng.org}`, chief, body)).status, 403)
  const ruler = await api.enter(api.eng.org, 'system administrator')
  const guard = await addFactorRow(api.cloud.db, await ownerOf(ruler), 'phone', true)
  const changed = read(await send('PUT', `/api/admin/org/${api.eng.org}`, ruler, body))
  assert.equal(text(find(changed, 'SecondFactorRequired')[0]), 'true')
  assert.ok(guard)
  const { token } = await logIn(user)
  for (const each of [before.token, token]) {
    const session = read(await send('GET', '/api/session', each))
    assert.deepEqual(Object.keys(linksOf(session)).toSorted(), ['down', 'remove'])
    const refused = await send('GET', '/api/org', each)
    assert.equal(refused.status, 403)
    assert.match(refused.text, /requires a second factor.*add one/)
    for (const [method, path, sent] of [
      ['GET', '/api/query?type=vm'],
      ['GET', '/api/events'],
      ['POST', '/api/session/tokens', '<AccessTokenParams name="x"/>'],
      ['GET', `/api/admin/org/${api.eng.org}`],
      ['POST', `${FACTORS}/action/replaceRecoveryCodes`],
    ] as const) {
      assert.equal((await send(method, path, each, sent)).status, 403, path)
    }
  }
  const list = read(await send('GET', FACTORS, token))
  assert.equal(attribute(list, 'required'), 'true')
  const { secret } = await enrol(user)
  assert.equal((await send('GET', '/api/org', token)).status, 200)
  await forgetSteps()
  assert.equal((await logIn(user, { code: codeNow(0, secret) })).status, 200)
  assert.equal((await send('DELETE', '/api/session', before.token)).status, 204)
})

test('where a second factor is required, API tokens go on, and an open feed ends', async () => {
  const user = await users.add()
  const { token } = await logIn(user)
  const body = '<AccessTokenParams name="nightly"/>'
  const made = read(await send('POST', '/api/session/tokens', token, body), 201)
  const script = text(find(made, 'Token')[0]) ?? ''
  const feed = await fetch(`http://127.0.0.1:${api.port}/api/events`, {
    headers: { accept: XML, 'x-cloud-authorization': token },
    signal: AbortSignal.timeout(60_000),
  })
  assert.equal(feed.status, 200)
  await sql`update org set second_factor_required = true where id = ${api.eng.org}`.execute(
    api.cloud.db,
  )
  await feed.text()
  assert.equal((await send('GET', '/api/org', script)).status, 200)
  const session = await logIn(user, { password: script })
  assert.equal((await send('GET', '/api/org', session.token)).status, 200)
})

test('an administrator removes the second factors of a user, but not their own, nor those of another organisation', async () => {
  const user = await users.addGuarded()
  const path = (account: string) => `/api/admin/user/${account}/action/removeSecondFactors`
  const stranger = await api.enter(api.ops.org, 'organisation administrator')
  const colleague = await api.enter(api.eng.org, 'author')
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  const { account: own } = await ownerOf(chief)
  assert.equal((await send('POST', path(user.account), stranger)).status, 404)
  assert.equal((await send('POST', path(user.account), colleague)).status, 403)
  assert.equal((await send('POST', path(own), chief)).status, 409)
  const above = await users.add('system administrator')
  assert.equal((await send('POST', path(above.account), chief)).status, 403)
  assert.equal(codeOf(await logIn(user)), 'SECOND_FACTOR')
  assert.equal((await send('POST', path(user.account), chief)).status, 204)
  assert.equal((await logIn(user)).status, 200)
  const removed = (await eventsOf(user)).find(({ kind }) => kind === 'second-factor.removed')
  assert.ok(removed)
  assert.deepEqual((removed.details as { names: unknown }).names, ['phone'])
})

test('a workflow server learns at once that a password alone does not count any more; an API token does', async () => {
  const user = await users.add()
  const ask = async (password = 'secret') => {
    const body = { user: user.name, org: 'eng', password, address: user.from }
    return flow.tell('POST', '/machine/v1/credentials', body)
  }
  const accepted = await ask()
  assert.equal(accepted.status, 200)
  const { token, path, codes } = await enrol(user)
  const stamp = async () => (await flow.tell('GET', '/machine/v1/accounts/stamp')).body['stamp']
  assert.notEqual(await stamp(), accepted.body['stamp'])
  const alone = await ask()
  assert.deepEqual([alone.status, alone.body['error']], [401, 'second-factor'])
  assert.match(String(alone.body['message']), /give an API token/)
  const body = '<AccessTokenParams name="nightly"/>'
  const made = read(await send('POST', '/api/session/tokens', token, body), 201)
  assert.equal((await ask(text(find(made, 'Token')[0]))).status, 200)
  assert.equal((await send('DELETE', path, token, undefined, codes[0])).status, 204)
  await sql`update org set second_factor_required = true where id = ${api.eng.org}`.execute(
    api.cloud.db,
  )
  assert.equal((await ask()).status, 403)
  assert.equal((await flow.tell('POST', '/machine/v1/sessions', { token })).status, 403)
})

test('a factor of a colleague, or of another organisation, looks missing', async () => {
  const { factor } = await users.addGuarded()
  for (const org of [api.eng.org, api.ops.org]) {
    const token = await api.enter(org, 'organisation administrator')
    assert.equal((await send('GET', `${FACTORS}/${factor}`, token)).status, 404)
    assert.equal(
      (await send('DELETE', `${FACTORS}/${factor}`, token, undefined, codeNow())).status,
      404,
    )
    assert.equal((await confirm(token, `${FACTORS}/${factor}`, codeNow())).status, 404)
  }
})
