// Goal: a logout at the identity server ends the sessions that came from there, and nothing else does. Method: a real oidc-provider that
// sends its logout tokens to the cell, and a server that forges them.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { after, before, test } from 'node:test'

import { startOpenIdServer, until, type OpenIdServer } from '@skerry/lab'
import { sql } from 'kysely'

import { reconcilePeople } from '../src/reconcile/people.ts'
import { seal } from './cloud-database.ts'
import { forge, json, startForgingServer, type ForgingServer } from './forging-server.ts'
import { openOpenIdApi, PlainBrowser, type OpenIdApi } from './openid-api.ts'
import { BASE } from './tenants-api.ts'

let on: OpenIdApi
let server: OpenIdServer
let forging: ForgingServer
let real: Awaited<ReturnType<OpenIdApi['add']>>
let provider: Awaited<ReturnType<OpenIdApi['add']>>
const redirects: string[] = [`${BASE}/none`]
before(async () => {
  on = await openOpenIdApi()
  server = await startOpenIdServer({ redirects, deliver })
  real = await on.add({ issuer: server.issuer, ca: server.ca })
  redirects.push(`${BASE}/login/${real.id}/back`)
  server.logoutAt(`${BASE}/login/${real.id}/logout`)
  server.groups.set('anna', ['developers'])
  forging = await startForgingServer()
  provider = await on.add({ name: 'forging', issuer: forging.issuer, ca: forging.ca })
})
after(async () => {
  await real[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
  await forging[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await on[Symbol.asyncDispose]()
})

/** Sends a form to the cell, as an identity server does. */
async function deliver(url: string, body: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const { pathname: path } = new URL(url)
  const to = { host: '127.0.0.1', port: on.api.port, method: 'POST', path, headers }
  const sent = request(to, (response) => {
    response.resume()
    resolve(response.statusCode ?? 0)
  })
  sent.on('error', reject)
  sent.end(body)
  return promise
}

test('a logout at a real identity server ends its session here, and no other', async () => {
  const isBack = (url: URL): boolean => url.origin === BASE && url.pathname.endsWith('/back')
  const ours = (url: URL): boolean => url.origin === BASE && url.pathname.startsWith('/ui/')
  const enter = async (browser: PlainBrowser): Promise<void> => {
    const asked = await browser.go(`${BASE}/login/${real.id}`, { stopAt: isBack })
    const body = new URLSearchParams({ name: 'anna' }).toString()
    const { url } = await browser.go(asked.url.href, { method: 'POST', body, stopAt: isBack })
    await browser.go(url.href, { site: 'cross-site', stopAt: ours })
  }
  const [one, other] = [0, 1].map(() => new PlainBrowser(on.api.port, server.ca))
  assert.ok(one && other)
  // On a busy machine, the server may take longer than a cell waits.
  for (const browser of [one, other]) {
    await until('the identity server answers', async () => {
      await enter(browser)
      return on.sessionOf(browser)
    })
  }
  const page = await one.go(`${server.issuer}/session/end`)
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({ xsrf, logout: 'yes' }).toString()
  await one.go(`${server.issuer}/session/end/confirm`, { method: 'POST', body })
  await until('the session has ended', async () => (await on.sessionOf(one)) === undefined)
  assert.equal((await on.sessionOf(other))?.user, 'anna')
  assert.equal((await on.eventsOf('session.ended')).at(-1)?.['via'], 'sso')
})

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
const seconds = (): number => Math.floor(Date.now() / 1000)

/** Sessions of two persons of the forging server, one with two, by the names that it has for them. */
async function refill(): Promise<void> {
  const { db } = on.api.cloud
  await sql`delete from session where provider = ${provider.id}`.execute(db)
  await sql`insert into account (org, name, role, provider, subject) values
    (${on.api.eng.org}, 'gina', 'author', ${provider.id}, 'gina'), (${on.api.eng.org}, 'hugo', 'author', ${provider.id}, 'hugo')
    on conflict do nothing`.execute(db)
  await sql`insert into session (token_hash, org, account, provider, sid)
    select sha256(sid::bytea), org, id, provider, sid from account,
      lateral (values (name || '-1'), (name || '-2')) as of(sid) where provider = ${provider.id}`.execute(
    db,
  )
}

async function left(): Promise<string[]> {
  const { rows } = await sql<{
    sid: string
  }>`select sid from session where provider = ${provider.id} order by sid`.execute(on.api.cloud.db)
  return rows.map(({ sid }) => sid)
}

const order = (changes: Record<string, unknown> = {}): Record<string, unknown> => ({
  iss: forging.issuer,
  aud: 'skerry',
  iat: seconds(),
  jti: randomUUID(),
  events: { [EVENT]: {} },
  sid: 'gina-1',
  ...changes,
})

/** On a busy machine, the server may take longer than a cell waits. */
const tell = (token: string, at?: string): Promise<number> =>
  until('the identity server answers', async () => {
    const status = await tellOnce(token, at)
    return status !== 503 && status
  })

const tellOnce = (token: string, at = provider.id): Promise<number> =>
  deliver(`${BASE}/login/${at}/logout`, new URLSearchParams({ logout_token: token }).toString())

const all = ['gina-1', 'gina-2', 'hugo-1', 'hugo-2']

test('an order ends the session that it names, or all of a person', async () => {
  await refill()
  assert.equal(await tell(forge(order(), 'RS256', { typ: 'logout+jwt' })), 200)
  assert.deepEqual(await left(), all.slice(1))
  assert.equal(await tell(forge(order({ sid: 'unknown' }))), 200)
  assert.equal(await tell(forge(order({ sub: 'hugo', sid: 'gina-2' }))), 200)
  assert.deepEqual(await left(), all.slice(1))
  assert.equal(await tell(forge(order({ sub: 'hugo', sid: undefined }))), 200)
  assert.deepEqual(await left(), ['gina-2'])
})

test('a replayed order ends no session that began later', async () => {
  await refill()
  const { db } = on.api.cloud
  const token = forge(order({ sub: 'gina', sid: undefined }))
  assert.equal(await tell(token), 200)
  await sql`insert into session (token_hash, org, account, provider, sid, began_at)
    select sha256('later'), org, id, provider, 'later', clock_timestamp() + interval '61 s' from account
    where name = 'gina'`.execute(db)
  assert.equal(await tell(token), 200)
  assert.deepEqual(await left(), ['hugo-1', 'hugo-2', 'later'])
})

test('nothing else is an order', async () => {
  await refill()
  const lies = {
    unsigned: forge(order(), 'none'),
    'signed with the public key as a secret': forge(order(), 'HS256'),
    'signed by a stranger': forge(order(), 'stranger'),
    'of another issuer': forge(order({ iss: 'https://other.example' })),
    'for another audience': forge(order({ aud: 'other' })),
    old: forge(order({ iat: seconds() - 240 })),
    'from the future': forge(order({ iat: seconds() + 240 })),
    expired: forge(order({ exp: seconds() - 120 })),
    'without a time': forge(order({ iat: undefined })),
    'without an id': forge(order({ jti: undefined })),
    'without an event': forge(order({ events: {} })),
    'with an event that is none': forge(order({ events: EVENT })),
    'an ID token': forge(order({ nonce: 'x' })),
    'an ID token without a nonce': forge(order({ events: undefined })),
    'of another type': forge(order(), 'RS256', { typ: 'at+jwt' }),
    'of nobody': forge(order({ sid: undefined })),
    'of what is no name': forge(order({ sid: ['gina-1'] })),
    empty: '',
    long: 'x'.repeat(20_000),
  }
  for (const [name, token] of Object.entries(lies)) assert.equal(await tell(token), 400, name)
  assert.deepEqual(await left(), all)
  assert.equal(await tell(forge(order()), real.id), 400)
  assert.equal(await tell(forge(order()), randomUUID()), 404)
  assert.deepEqual(await left(), all)
})

test('who has not logged in for long loses all access, but not all at once', async () => {
  const { db } = on.api.cloud
  await sql`delete from account where provider is not null`.execute(db)
  await sql`insert into account (org, name, role, provider, subject, proved_at)
    select ${on.api.eng.org}, 'person-' || n, 'author', ${provider.id}, 'person-' || n, clock_timestamp() - interval '1 day' * n
    from generate_series(26, 35) n`.execute(db)
  await sql`insert into access_token (org, account, name, token_hash)
    select org, id, 'nightly', sha256(name::bytea) from account where provider = ${provider.id}`.execute(
    db,
  )
  const lapsed = async (): Promise<string> => {
    const { rows } = await sql<{
      names: string
    }>`select coalesce(string_agg(right(name, 2), ' ' order by name), '') as names
      from account where provider = ${provider.id} and lapsed`.execute(db)
    return rows[0]?.names ?? ''
  }
  // Six of ten: so many do not leave at once; a clock may have jumped.
  assert.equal(await reconcilePeople(db, seal), 0)
  assert.equal(await lapsed(), '')
  assert.equal((await on.eventsOf('provider.doubted')).at(-1)?.['leavers'], 6)
  await sql`update account set proved_at = clock_timestamp() where name = 'person-35'`.execute(db)
  assert.equal(await reconcilePeople(db, seal), 5)
  assert.equal(await lapsed(), '30 31 32 33 34')
  const { rows } = await sql`select from access_token where name = 'nightly'`.execute(db)
  assert.equal(rows.length, 5)
  await sql`delete from account where provider is not null`.execute(db)
})

test('keys that cannot be read are no refusal: the identity server tries again', async () => {
  await refill()
  await using other = await on.add({ name: 'other', issuer: forging.issuer, ca: forging.ca })
  const keys = forging.answers.get('/jwks') ?? json({})
  forging.answers.set('/jwks', (response) => response.destroy())
  assert.equal(await tellOnce(forge(order()), other.id), 503)
  forging.answers.set('/jwks', keys)
  assert.equal(await tell(forge(order()), other.id), 200)
  assert.deepEqual(await left(), all)
})
