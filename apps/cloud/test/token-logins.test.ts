// Goal: an API token logs in wherever a password does, with the same limits, and nothing that began with it outlives it.
// Method: both dialects over HTTP and the machine API of workflow servers, on a real PostgreSQL; time passes in the table.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { attribute, text } from '@skerry/xml'
import { sql } from 'kysely'

import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { FREE_FAILURES } from '../src/tenants/login-failures.ts'
import { prolongWaits } from './login-waits.ts'
import { find, hrefOf, linksOf, pathOf, read, XML, type TenantsApi } from './tenants-api.ts'
import { openTestWorkflowApi, type TestWorkflowApi } from './workflow-api.ts'

const run = promisify(execFile)
const TOKENS = '/api/session/tokens'
const NOWHERE = 'http://127.0.0.1:1'

let flow: TestWorkflowApi
let api: TenantsApi
before(async () => {
  flow = await openTestWorkflowApi()
  ;({ api } = flow)
})
after(() => flow[Symbol.asyncDispose]())

const basic = (user: string, password: string) => ({
  authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
})

const logIn = async (user: string, password: string) => {
  const answer = await api.ask('POST', '/api/sessions', { headers: basic(user, password) })
  return { ...answer, token: String(answer.headers['x-cloud-authorization']) }
}

let count = 0
/** A user and an API token of that user. */
async function userWithToken(days?: number) {
  const session = await api.enter(api.eng.org, 'author')
  const user = attribute(read(await api.ask('GET', '/api/session', { token: session })), 'user')
  const name = `script-${(count += 1)}`
  const until = days === undefined ? '' : ` days="${days}"`
  const body = `<AccessTokenParams name="${name}"${until}/>`
  const made = read(await api.ask('POST', TOKENS, { token: session, body }), 201)
  const token = text(find(made, 'Token')[0]) ?? ''
  return { user: `${user}@eng`, session, name, token, made, path: pathOf(hrefOf(made)) }
}

const statusOf = async (token: string) => (await api.ask('GET', '/api/org', { token })).status

async function eventsOf(kind: string): Promise<Record<string, unknown>[]> {
  const { rows } = await sql<{ details: Record<string, unknown> }>`
    select details from event where kind = ${kind} order by tx, seq`.execute(api.cloud.db)
  return rows.map(({ details }) => details)
}

test('an API token is accepted as the password in both dialects; the event names it', async () => {
  const { user, token, name } = await userWithToken()
  for (const { ask, dialect } of api.spoken) {
    const answer = await ask('POST', '/api/sessions', { headers: basic(user, token) })
    assert.equal(answer.status, 200, answer.text)
    const session = String(answer.headers[dialect.tokenHeader])
    assert.ok(!session.startsWith('skat_'), 'a session, not the token')
    const headers = { [dialect.tokenHeader]: session }
    assert.equal((await ask('GET', '/api/org', { headers })).status, 200)
    const begun = (await eventsOf('session.begun')).at(-1)
    assert.deepEqual(begun, { by: user.split('@')[0], from: '127.0.0.1', token: name })
  }
})

test('curl -u logs in with a token unchanged', async () => {
  const { user, token } = await userWithToken()
  const url = `http://127.0.0.1:${api.port}/api/sessions`
  const asked = (password: string) =>
    run('curl', [
      '-s',
      '-X',
      'POST',
      '-u',
      `${user}:${password}`,
      '-H',
      `Accept: ${XML}`,
      '-w',
      '%{http_code}',
      url,
    ])
  assert.match((await asked(token)).stdout, /<Session [^]*200$/)
  assert.match((await asked(`${token.slice(0, -1)}~`)).stdout, /401$/)
})

test('a session that began with a token has the rights of the user, creates no tokens, and can log out', async () => {
  const { user, token } = await userWithToken()
  const login = await logIn(user, token)
  const session = read(login)
  assert.ok(linksOf(session)['remove'], 'a session has a link to log out')
  const body = '<AccessTokenParams name="another"/>'
  assert.equal((await api.ask('POST', TOKENS, { token: login.token, body })).status, 403)
  const list = read(await api.ask('GET', TOKENS, { token: login.token }))
  assert.equal(linksOf(list)['add'], undefined)
  assert.equal((await api.ask('DELETE', '/api/session', { token: login.token })).status, 204)
  assert.deepEqual([await statusOf(login.token), await statusOf(token)], [401, 200])
})

test('the token of another user is refused and reported, and wrong tokens count as wrong passwords', async () => {
  const own = await userWithToken()
  const other = await userWithToken()
  const before = (await eventsOf('session.refused')).length
  assert.equal((await logIn(own.user, other.token)).status, 401)
  assert.equal((await logIn(own.user.replace('@eng', '@ops'), own.token)).status, 401)
  const refused = (await eventsOf('session.refused')).slice(before)
  assert.deepEqual(refused, [{ by: own.user.split('@')[0], from: '127.0.0.1' }])
  for (let n = 1; n < FREE_FAILURES; n += 1) {
    assert.equal((await logIn(own.user, `skat_${'x'.repeat(42)}${n}`)).status, 401)
  }
  await prolongWaits(api.cloud.db)
  const late = await logIn(own.user, own.token)
  assert.deepEqual([late.status, Number(late.headers['retry-after']) > 0], [429, true])
  assert.equal((await logIn(other.user, other.token)).status, 200, 'others are not affected')
  await sql`delete from login_failure`.execute(api.cloud.db)
})

test('revoking a token ends the sessions and feeds that began with it, and no others', async () => {
  const { user, session, token, path } = await userWithToken()
  const login = await logIn(user, token)
  const feed = await fetch(`http://127.0.0.1:${api.port}/api/events`, {
    headers: { accept: XML, 'x-cloud-authorization': login.token },
    signal: AbortSignal.timeout(60_000),
  })
  assert.equal(feed.status, 200)
  assert.equal((await api.ask('DELETE', path, { token: session })).status, 204)
  await feed.text()
  assert.deepEqual([await statusOf(login.token), await statusOf(session)], [401, 200])
  assert.equal((await logIn(user, token)).status, 401)
})

test('a token with an end expires with the sessions that began with it, and its name is free again', async () => {
  const { user, session, token, name, made, path } = await userWithToken(90)
  const left = Date.parse(text(find(made, 'Expires')[0]) ?? '') - Date.now()
  assert.ok(Math.abs(left / 86_400_000 - 90) < 0.01)
  const login = await logIn(user, token)
  assert.deepEqual([await statusOf(token), await statusOf(login.token)], [200, 200])
  const feed = await fetch(`http://127.0.0.1:${api.port}/api/events`, {
    headers: { accept: XML, 'x-cloud-authorization': login.token },
    signal: AbortSignal.timeout(60_000),
  })
  await sql`update access_token set expires_at = clock_timestamp() where name = ${name}`.execute(
    api.cloud.db,
  )
  assert.deepEqual([await statusOf(token), await statusOf(login.token)], [401, 401])
  await feed.text()
  assert.equal((await logIn(user, token)).status, 401)
  const again = await api.ask('POST', TOKENS, {
    token: session,
    body: `<AccessTokenParams name="${name}" days="1"/>`,
  })
  assert.equal(again.status, 201, again.text)
  assert.equal((await api.ask('GET', path, { token: session })).status, 404)
  assert.deepEqual((await eventsOf('token.expired')).at(-1), {
    user: user.split('@')[0],
    token: name,
  })
  await sql`delete from login_failure`.execute(api.cloud.db)
})

test('expired tokens are deleted with an event each; the number of days has limits', async () => {
  const { session, name, path } = await userWithToken(1)
  await sql`update access_token set expires_at = clock_timestamp() where name = ${name}`.execute(
    api.cloud.db,
  )
  await deleteExpired(api.cloud.db)
  assert.equal((await api.ask('GET', path, { token: session })).status, 404)
  assert.equal((await eventsOf('token.expired')).at(-1)?.['token'], name)
  for (const days of ['0', '3651', '-1', '1.5', 'x', '']) {
    const body = `<AccessTokenParams name="n" days="${days}"/>`
    assert.equal((await api.ask('POST', TOKENS, { token: session, body })).status, 400, days)
  }
})

test('a workflow server accepts a token as the password, and learns of its end with the next stamp', async () => {
  const { user, session, token, name, path } = await userWithToken()
  const words = { user: user.split('@')[0], org: 'eng', password: token, address: '192.0.2.9' }
  const accepted = await flow.tell('POST', '/machine/v1/credentials', words)
  assert.equal(accepted.status, 200, JSON.stringify(accepted.body))
  assert.deepEqual((await eventsOf('session.begun')).at(-1), {
    by: words.user,
    from: words.address,
    via: 'flow-1',
    token: name,
  })
  const stamp = async () => (await flow.tell('GET', '/machine/v1/accounts/stamp')).body['stamp']
  assert.equal(await stamp(), accepted.body['stamp'])
  assert.equal((await api.ask('DELETE', path, { token: session })).status, 204)
  assert.notEqual(await stamp(), accepted.body['stamp'])
  assert.equal((await flow.tell('POST', '/machine/v1/credentials', words)).status, 401)
})

test('no password has the form of a token', async () => {
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  const { user } = await userWithToken()
  const { rows } = await sql<{ id: string }>`
    select id from account where name = ${user.split('@')[0]}`.execute(api.cloud.db)
  const set = (password: string) =>
    api.ask('PUT', `/api/admin/user/${rows[0]?.id}`, {
      token: chief,
      body: `<User><Password>${password}</Password></User>`,
    })
  assert.equal((await set(`skat_${'xyzw'.repeat(10)}xyz`)).status, 400)
  assert.equal((await set('skat_is a fine beginning')).status, 200)
  assert.equal((await logIn(user, 'skat_is a fine beginning')).status, 200)
})

test('skerry login stores a token that is typed as the password as it is', async () => {
  const { user, token } = await userWithToken()
  const profiles = keptProfiles()
  const run = (name: string) =>
    skerry(NOWHERE, ['login', 'work', `http://127.0.0.1:${api.port}`, '--user', name], {
      profiles,
      readSecret: async () => token,
    })
  const done = await run(user)
  assert.equal(done.code, 0, done.err)
  assert.equal((await profiles.read()).clouds['work']?.token, token)
  assert.equal((await run('nobody@eng')).code, 1)
})
