// Goal: a user's token for scripts does what the user may, for as long as nobody ends it, and cannot be read back.
// Method: over HTTP, with a real Postgres.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { attribute, readXml, text } from '@skerry/xml'
import { sql } from 'kysely'

import { find, hrefOf, openDoor, pathOf, read, XML, type Door } from './tenants-door.ts'

let door: Door
before(async () => {
  door = await openDoor()
})
after(() => door[Symbol.asyncDispose]())

const TOKENS = '/api/session/tokens'
const params = (name: string) => `<AccessTokenParams name="${name}"/>`

async function make(session: string, name: string) {
  const made = read(await door.ask('POST', TOKENS, { token: session, body: params(name) }), 201)
  const token = text(find(made, 'Token')[0]) ?? ''
  return { token, path: pathOf(hrefOf(made)) }
}

test('it is told once, works without a login, and is revoked at once', async () => {
  const session = await door.enter(door.eng.org, 'author')
  const { token, path } = await make(session, 'nightly')
  assert.match(token, /^skat_[\w-]{43}$/)
  const who = read(await door.ask('GET', '/api/session', { token }))
  assert.equal(attribute(who, 'org'), 'eng')
  const listed = await door.ask('GET', TOKENS, { token: session })
  const [entry] = find(read(listed), 'AccessToken')
  assert.deepEqual([attribute(entry, 'name'), hrefOf(entry)], ['nightly', hrefOf(entry)])
  assert.ok(!listed.text.includes(token))
  assert.equal(find(entry ?? readXml(''), 'LastUsed').length, 1)
  const gone = await door.ask('DELETE', path, { token: session })
  assert.equal(gone.status, 204)
  assert.equal((await door.ask('GET', '/api/session', { token })).status, 401)
  assert.equal((await door.ask('GET', path, { token: session })).status, 404)
})

test('it does not idle out, ends with its user, and comes back with the user', async () => {
  const session = await door.enter(door.eng.org, 'user')
  const { token } = await make(session, 'long')
  const status = async () => (await door.ask('GET', '/api/org', { token })).status
  const { db } = door.cloud
  await sql`update access_token set made_at = made_at - interval '400 days', used_at = made_at - interval '300 days'`.execute(
    db,
  )
  assert.equal(await status(), 200)
  const disable = (disabled: boolean) =>
    sql`update account set disabled = ${disabled} where role = 'user'`.execute(db)
  await disable(true)
  assert.equal(await status(), 401)
  assert.equal((await door.ask('GET', '/api/org', { token: session })).status, 401)
  await disable(false)
  assert.equal(await status(), 200)
  await sql`update org set disabled = true where name = 'eng'`.execute(db)
  assert.equal(await status(), 401)
  await sql`update org set disabled = false where name = 'eng'`.execute(db)
})

test('it makes no others and is no session; its name is its own; a user has twenty at most', async () => {
  const session = await door.enter(door.eng.org, 'author')
  const { token } = await make(session, 'first')
  const post = (by: string, name: string) =>
    door.ask('POST', TOKENS, { token: by, body: params(name) })
  assert.equal((await post(token, 'second')).status, 403)
  assert.equal((await door.ask('DELETE', '/api/session', { token })).status, 409)
  assert.equal((await post(session, 'first')).status, 409)
  for (const wrong of ['', ' a', 'a&#10;b', 'x'.repeat(129)]) {
    assert.equal((await post(session, wrong)).status, 400, wrong)
  }
  const many = Array.from({ length: 30 }, (_, at) => post(session, `t-${at}`))
  const statuses = (await Promise.all(many)).map(({ status }) => status)
  assert.equal(statuses.filter((status) => status === 201).length, 19)
})

test('nobody sees those of another user, and nothing that is kept lets anybody in', async () => {
  const mine = await door.enter(door.eng.org, 'author')
  const theirs = await door.enter(door.eng.org, 'organisation administrator')
  const { token, path } = await make(mine, 'private')
  assert.equal((await door.ask('GET', path, { token: theirs })).status, 404)
  assert.equal((await door.ask('DELETE', path, { token: theirs })).status, 404)
  assert.equal(
    find(read(await door.ask('GET', TOKENS, { token: theirs })), 'AccessToken').length,
    0,
  )
  const { rows } = await sql<{ kept: string }>`
    select (select string_agg(to_jsonb(t)::text, '') from access_token t) ||
      (select string_agg(to_jsonb(e)::text, '') from event e) as kept`.execute(door.cloud.db)
  assert.ok(!rows[0]?.kept.includes(token))
  assert.ok(rows[0]?.kept.includes('token.made'), 'who made one is told')
})

test('an open feed ends with the session, or with the token, that it was asked with', async () => {
  const session = await door.enter(door.eng.org, 'author')
  const other = await door.enter(door.eng.org, 'author')
  const { token, path } = await make(other, 'feed')
  const ends = [
    [session, () => door.ask('DELETE', '/api/session', { token: session })],
    [token, () => door.ask('DELETE', path, { token: other })],
  ] as const
  for (const [by, end] of ends) {
    const feed = await fetch(`http://127.0.0.1:${door.port}/api/events`, {
      headers: { accept: XML, 'x-cloud-authorization': by },
      signal: AbortSignal.timeout(20_000),
    })
    assert.equal(feed.status, 200)
    assert.equal((await end()).status, 204)
    // It would go on for ever.
    await feed.text()
  }
})
