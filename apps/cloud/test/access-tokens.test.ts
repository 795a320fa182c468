// Goal: a user's API token has the rights of the user until it is revoked, and its secret cannot be read back.
// Method: over HTTP, with a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import {
  find,
  hrefOf,
  linksOf,
  openTenantsApi,
  pathOf,
  read,
  XML,
  type TenantsApi,
} from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

const TOKENS = '/api/session/tokens'
const params = (name: string) => `<AccessTokenParams name="${name}"/>`

async function make(session: string, name: string) {
  const made = read(await api.ask('POST', TOKENS, { token: session, body: params(name) }), 201)
  const token = text(find(made, 'Token')[0]) ?? ''
  return { token, path: pathOf(hrefOf(made)) }
}

test('an API token is returned once, works without a login, and is revoked at once', async () => {
  const session = await api.enter(api.eng.org, 'author')
  const { token, path } = await make(session, 'nightly')
  assert.match(token, /^skat_[\w-]{43}$/)
  const principal = read(await api.ask('GET', '/api/session', { token }))
  assert.equal(attribute(principal, 'org'), 'eng')
  const listed = await api.ask('GET', TOKENS, { token: session })
  const [entry] = find(read(listed), 'AccessToken')
  assert.deepEqual([attribute(entry, 'name'), hrefOf(entry)], ['nightly', hrefOf(entry)])
  assert.ok(!listed.text.includes(token))
  assert.equal(find(entry ?? readXml(''), 'LastUsed').length, 1)
  const gone = await api.ask('DELETE', path, { token: session })
  assert.equal(gone.status, 204)
  assert.equal((await api.ask('GET', '/api/session', { token })).status, 401)
  assert.equal((await api.ask('GET', path, { token: session })).status, 404)
})

test('an API token has no idle timeout, ends when its user is disabled, and works again when its organisation is enabled again', async () => {
  const session = await api.enter(api.eng.org, 'user')
  const { token } = await make(session, 'long')
  const status = async () => (await api.ask('GET', '/api/org', { token })).status
  const { db } = api.cloud
  await sql`update access_token set made_at = made_at - interval '400 days', used_at = made_at - interval '300 days'`.execute(
    db,
  )
  assert.equal(await status(), 200)
  const disable = (disabled: boolean) =>
    sql`update account set disabled = ${disabled} where role = 'user'`.execute(db)
  await disable(true)
  assert.equal(await status(), 401)
  assert.equal((await api.ask('GET', '/api/org', { token: session })).status, 401)
  await disable(false)
  assert.equal(await status(), 401, 'an ended token stays ended')
  const other = await api.enter(api.eng.org, 'author')
  const kept = await make(other, 'kept')
  const keptStatus = async () => (await api.ask('GET', '/api/org', { token: kept.token })).status
  await sql`update org set disabled = true where name = 'eng'`.execute(db)
  assert.equal(await keptStatus(), 401)
  await sql`update org set disabled = false where name = 'eng'`.execute(db)
  assert.equal(await keptStatus(), 200, 'the tokens of an enabled organisation work again')
  assert.equal((await api.ask('GET', '/api/org', { token: other })).status, 401, 'sessions ended')
})

test('an API token creates no others and is not a session; its name is unique; a user has twenty at most', async () => {
  const session = await api.enter(api.eng.org, 'author')
  const { token } = await make(session, 'first')
  const post = (by: string, name: string) =>
    api.ask('POST', TOKENS, { token: by, body: params(name) })
  assert.equal((await post(token, 'second')).status, 403)
  assert.equal((await api.ask('DELETE', '/api/session', { token })).status, 409)
  assert.equal((await post(session, 'first')).status, 409)
  for (const wrong of ['', ' a', 'a&#10;b', 'x'.repeat(129)]) {
    assert.equal((await post(session, wrong)).status, 400, wrong)
  }
  const many = Array.from({ length: 30 }, (_, at) => post(session, `t-${at}`))
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 19)
})

test('users do not see the tokens of other users, and what is stored cannot be used to log in', async () => {
  const mine = await api.enter(api.eng.org, 'author')
  const theirs = await api.enter(api.eng.org, 'organisation administrator')
  const { token, path } = await make(mine, 'private')
  assert.equal((await api.ask('GET', path, { token: theirs })).status, 404)
  assert.equal((await api.ask('DELETE', path, { token: theirs })).status, 404)
  assert.equal(find(read(await api.ask('GET', TOKENS, { token: theirs })), 'AccessToken').length, 0)
  const { rows } = await sql<{ kept: string }>`
    select (select string_agg(to_jsonb(t)::text, '') from access_token t) ||
      (select string_agg(to_jsonb(e)::text, '') from event e) as kept`.execute(api.cloud.db)
  assert.ok(!rows[0]?.kept.includes(token))
  assert.ok(rows[0]?.kept.includes('token.made'), 'an event records the creator')
})

test('an administrator lists and revokes the tokens of the organisation’s users, of no other', async () => {
  const mine = await api.enter(api.eng.org, 'author')
  const chief = await api.enter(api.eng.org, 'organisation administrator')
  const { token } = await make(mine, 'nightly')
  const { account } = await api.cloud.db
    .selectFrom('session')
    .select('account')
    .where('token_hash', '=', hashToken(mine))
    .executeTakeFirstOrThrow()
  const user = read(await api.ask('GET', `/api/admin/user/${account}`, { token: chief }))
  const list = pathOf(linksOf(user)['down'] ?? '')
  const listed = await api.ask('GET', list, { token: chief })
  const [entry, ...more] = find(read(listed), 'AccessToken')
  assert.deepEqual([attribute(entry, 'name'), more.length], ['nightly', 0])
  assert.ok(!listed.text.includes(token))
  const path = pathOf(hrefOf(entry))
  const foreign = await api.enter(api.ops.org, 'organisation administrator')
  assert.equal((await api.ask('DELETE', path, { token: foreign })).status, 404)
  assert.equal((await api.ask('GET', list, { token: foreign })).status, 404)
  assert.equal((await api.ask('DELETE', path, { token: mine })).status, 403)
  assert.equal((await api.ask('GET', '/api/org', { token })).status, 200)
  assert.equal((await api.ask('DELETE', path, { token: chief })).status, 204)
  assert.equal((await api.ask('GET', '/api/org', { token })).status, 401)
  const ruler = await api.enter(api.eng.org, 'system administrator')
  const { path: own } = await make(ruler, 'ruling')
  const byChief = await api.ask('DELETE', `/api/admin/token/${own.split('/').at(-1)}`, {
    token: chief,
  })
  assert.equal(byChief.status, 403, 'a token of a system administrator')
})

test('an open feed ends with the session or token that opened it', async () => {
  const session = await api.enter(api.eng.org, 'author')
  const other = await api.enter(api.eng.org, 'author')
  const { token, path } = await make(other, 'feed')
  const ends = [
    [session, () => api.ask('DELETE', '/api/session', { token: session })],
    [token, () => api.ask('DELETE', path, { token: other })],
  ] as const
  for (const [by, end] of ends) {
    const feed = await fetch(`http://127.0.0.1:${api.port}/api/events`, {
      headers: { accept: XML, 'x-cloud-authorization': by },
      signal: AbortSignal.timeout(60_000),
    })
    assert.equal(feed.status, 200)
    assert.equal((await end()).status, 204)
    // The stream would never end.
    await feed.text()
  }
})
