// Goal: a program without a browser gets a token when a person allows it, and only then, once. Method: the tenant API and skerry, with a
// page's requests written by hand.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { after, afterEach, before, test } from 'node:test'

import { sql } from 'kysely'

import { keptProfiles, skerry } from '../../cli/test/terminal.ts'
import { hashToken } from '../src/auth/access-token.ts'
import { DeviceLogins, plainCode } from '../src/auth/device-logins.ts'
import { BASE, openTenantsApi, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())
afterEach(async () => {
  await sql`delete from device_login`.execute(api.cloud.db)
  await sql`delete from access_token where name <> 'script'`.execute(api.cloud.db)
})

interface Sent {
  readonly body?: string
  /** The session of a page. */
  readonly page?: string
  readonly headers?: Readonly<Record<string, string>>
}

interface Got {
  readonly status: number
  readonly value: Readonly<Record<string, unknown>>
}

async function send(
  method: string,
  path: string,
  { body, page, headers }: Sent = {},
): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const ofPage = page !== undefined && {
    cookie: `__Host-cloud-token=${page}`,
    'sec-fetch-site': 'same-origin',
    origin: BASE,
  }
  const to = { host: '127.0.0.1', port: api.port, method, path, agent: false as const }
  const sent = request(
    { ...to, headers: { accept: 'application/json', ...ofPage, ...headers } },
    (response) => {
      textOf(response).then((text) => {
        const value = text.startsWith('{') ? (JSON.parse(text) as Got['value']) : {}
        resolve({ status: response.statusCode ?? 0, value })
      }, reject)
    },
  )
  sent.on('error', reject)
  sent.end(body)
  return promise
}

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'
const form = (fields: Record<string, string>): Sent => ({
  body: new URLSearchParams(fields).toString(),
})

async function begin(name = 'skerry on laptop') {
  const { status, value } = await send('POST', '/api/oauth/device', form({ client_name: name }))
  assert.equal(status, 200)
  return { device: String(value['device_code']), code: String(value['user_code']), value }
}

/** Asks for the token; as if the interval was over. */
async function take(device: string): Promise<Got> {
  await sql`update device_login set asked_at = asked_at - interval '2 s'`.execute(api.cloud.db)
  return send('POST', '/api/oauth/token', form({ grant_type: GRANT, device_code: device }))
}

const errorOf = async (device: string) => (await take(device)).value['error']

const answer = (code: string, isAllowed: boolean, page = api.eng.token): Promise<Got> =>
  send('POST', '/login/device', { page, body: JSON.stringify({ code, isAllowed }) })

const find = (code: string, page = api.eng.token): Promise<Got> =>
  send('GET', `/login/device?code=${encodeURIComponent(code)}`, { page })

async function statusWith(token: string): Promise<number> {
  return (await api.ask('GET', '/api/session', { headers: { authorization: `Bearer ${token}` } }))
    .status
}

test('a program asks, a person sees who asks and allows it, and the program has a token, once', async () => {
  const { device, code, value } = await begin()
  assert.match(code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/)
  assert.equal(value['verification_uri_complete'], `${BASE}/ui/device?code=${code}`)
  assert.equal(await errorOf(device), 'authorization_pending')
  const shown = await find(code.toLowerCase().replace('-', ' '))
  assert.deepEqual(shown.value, { name: 'skerry on laptop', address: '127.0.0.1', code })
  assert.equal((await answer(code, true)).status, 200)
  const given = await take(device)
  assert.equal(given.status, 200)
  assert.equal(given.value['token_type'], 'Bearer')
  assert.equal(await statusWith(String(given.value['access_token'])), 200)
  assert.equal(await errorOf(device), 'expired_token')
  const again = await begin()
  await answer(again.code, true)
  await take(again.device)
  const { rows } = await sql<{
    name: string
  }>`select name from access_token where name like 'skerry%' order by name`.execute(api.cloud.db)
  assert.deepEqual(
    rows.map(({ name }) => name),
    ['skerry on laptop', 'skerry on laptop 2'],
  )
  const known = await send('GET', '/.well-known/oauth-authorization-server')
  assert.equal(known.value['token_endpoint'], `${BASE}/api/oauth/token`)
})

test('refused, too late and too soon are no token', async () => {
  const refused = await begin()
  await answer(refused.code, false)
  assert.equal(await errorOf(refused.device), 'access_denied')
  assert.equal((await answer(refused.code, true)).status, 404)
  const late = await begin()
  await answer(late.code, true)
  await sql`update device_login set began_at = began_at - interval '11 min'`.execute(api.cloud.db)
  assert.equal(await errorOf(late.device), 'expired_token')
  const over = await begin()
  await sql`update device_login set began_at = began_at - interval '11 min'`.execute(api.cloud.db)
  assert.equal((await find(over.code)).status, 404)
  const hasty = await begin()
  await take(hasty.device)
  // However long this process pauses, the next request comes too soon.
  await sql`update device_login set asked_at = asked_at + interval '1 h'`.execute(api.cloud.db)
  const soon = await send(
    'POST',
    '/api/oauth/token',
    form({ grant_type: GRANT, device_code: hasty.device }),
  )
  assert.equal(soon.value['error'], 'slow_down')
  for (const fields of [{}, { grant_type: 'password' }, { grant_type: GRANT }]) {
    assert.equal((await send('POST', '/api/oauth/token', form(fields))).status, 400)
  }
})

test('only the first answer counts, of two persons at once', async () => {
  const other = await api.enter(api.eng.org, 'author')
  const { device, code } = await begin()
  const answers = await Promise.all([answer(code, true), answer(code, true, other)])
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200, 404]))
  const tokens = await Promise.all([take(device), take(device), take(device)])
  assert.equal(tokens.filter(({ status }) => status === 200).length, 1)
})

test('no script, no other site and no API token lets a program in', async () => {
  const { code } = await begin()
  const body = JSON.stringify({ code, isAllowed: true })
  const cookie = `__Host-cloud-token=${api.eng.token}`
  const tries: readonly Record<string, string>[] = [
    {},
    { 'x-cloud-authorization': api.eng.token },
    { cookie },
    { cookie, 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    { cookie, 'sec-fetch-site': 'same-origin', origin: 'https://evil.example' },
  ]
  for (const headers of tries) {
    assert.equal((await send('POST', '/login/device', { body, headers })).status, 401)
  }
  const token = randomBytes(32).toString('base64url')
  await sql`insert into session (token_hash, org, account, access_token)
    select ${hashToken(token)}, org, account, id from access_token where id = ${api.eng.ids['accessToken']}`.execute(
    api.cloud.db,
  )
  assert.equal((await answer(code, true, token)).status, 403)
  assert.equal(
    (await send('POST', '/login/device', { page: api.eng.token, body: '[]' })).status,
    400,
  )
})

test('a user who is disabled before the program asks lets no program in', async () => {
  const { db } = api.cloud
  const page = await api.enter(api.eng.org, 'author')
  const { device, code } = await begin()
  await answer(code, true, page)
  await sql`update account set disabled = true from session
    where session.account = account.id and token_hash = ${hashToken(page)}`.execute(db)
  assert.equal(await errorOf(device), 'access_denied')
})

test('codes are not guessed, names are plain, and one network has few programs that wait', async () => {
  const guesser = await api.enter(api.eng.org, 'author')
  for (let count = 0; count < 10; count += 1) {
    assert.equal((await find('BBBB-BBBB', guesser)).status, 404)
  }
  assert.equal((await find('BBBB-BBBB', guesser)).status, 429)
  const { code } = await begin('a\u0000\n\u202Eb'.padEnd(100, 'c'))
  const { value } = await find(code)
  assert.equal(value['name'], 'abc'.padEnd(64, 'c'))
  assert.equal(plainCode('bcdf-GHJK '), 'BCDFGHJK')
  for (let count = 1; count < 20; count += 1) await begin()
  const refused = await send('POST', '/api/oauth/device', form({ client_name: 'x' }))
  assert.equal(refused.status, 429)
})

test('a cell that dies while it gives the token has given nothing, and another one gives it', async () => {
  const { db } = api.cloud
  const { device, code } = await begin()
  await answer(code, true)
  await sql`update device_login set asked_at = null`.execute(db)
  const dying = new DeviceLogins(
    db,
    () => {
      throw new Error('killed')
    },
    () => 0,
  )
  await assert.rejects(dying.take(device), /killed/)
  assert.equal((await take(device)).status, 200)
})

/** Passes requests to the cell; the first one to each of these paths gets 503. */
async function startFront(away: Set<string>) {
  const front = createServer((asked, response) => {
    const { pathname } = new URL(asked.url ?? '', BASE)
    if (away.delete(pathname)) {
      response.writeHead(503).end()
      return
    }
    const { method = 'GET', url = '', headers } = asked
    const to = { host: '127.0.0.1', port: api.port, agent: false as const }
    const passed = request({ ...to, method, path: url, headers }, (answered) => {
      response.writeHead(answered.statusCode ?? 500, answered.headers)
      answered.pipe(response)
    })
    asked.pipe(passed)
  })
  front.listen(0, '127.0.0.1')
  await once(front, 'listening')
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => void front.close(),
  }
}

test('skerry logs in by a code although the cloud is away when the token is asked for, and when it is used', async () => {
  const away = new Set(['/api/oauth/token', '/api/session'])
  using front = await startFront(away)
  const profiles = keptProfiles()
  const shown = Promise.withResolvers<string>()
  const done = await skerry('http://127.0.0.1:9', ['login', 'work', front.url], {
    profiles,
    complain: (line) => shown.resolve(/enter ([A-Z]{4}-[A-Z]{4})/.exec(line)?.[1] ?? ''),
    wait: async () => {
      const code = await shown.promise
      await answer(code, true)
      // As if the interval was over.
      await sql`update device_login set asked_at = asked_at - interval '2 s'`.execute(api.cloud.db)
    },
  })
  assert.equal(done.code, 0, done.err)
  assert.equal(away.size, 0)
  const { rows } = await sql`select from access_token where name = 'skerry on my-laptop'`.execute(
    api.cloud.db,
  )
  assert.equal(rows.length, 1)
})
