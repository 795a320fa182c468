// Goal: the cookie of the web UI lets in the pages of this cloud only. Method: every combination of headers, method and cookie over
// HTTP, compared with a table; no route that a link can reach changes a row.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'

import { sql } from 'kysely'

import { original, ours } from '../src/dialect/dialect.ts'
import { restrictions } from '../src/http/page-request.ts'
import { routes } from '../src/routes.ts'
import { acceptOf, everythingOf, idsFor, pathOf, rowOf } from './every-route.ts'
import { BASE, logIn, openTenantsApi, ORIGINAL_BASE, XML, type TenantsApi } from './tenants-api.ts'

let api: TenantsApi
before(async () => {
  api = await openTenantsApi()
})
after(() => api[Symbol.asyncDispose]())

/** The status of a response, which is read to its end unless it has none. */
async function statusOf(
  method: string,
  path: string,
  headers: Headers,
  {
    body,
    isStream = false,
  }: { readonly body?: string | undefined; readonly isStream?: boolean } = {},
): Promise<number> {
  const sent = request({ port: api.port, host: '127.0.0.1', method, path, headers })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  if (isStream) response.destroy()
  else await response.toArray()
  return response.statusCode ?? 0
}

type Headers = Readonly<Record<string, string>>

/** The headers of a browser, and whether the cookie counts for reads and for changes. */
const senders: readonly (readonly [string, Headers, reads: boolean, changes: boolean])[] = [
  ['our page', { 'sec-fetch-site': 'same-origin', origin: BASE }, true, true],
  ['our page without Origin', { 'sec-fetch-site': 'same-origin' }, true, false],
  ['Origin null', { 'sec-fetch-site': 'same-origin', origin: 'null' }, true, false],
  ['another port', { 'sec-fetch-site': 'same-origin', origin: `${BASE}:444` }, true, false],
  ['plain HTTP', { 'sec-fetch-site': 'same-origin', origin: 'http://cloud.example' }, true, false],
  [
    'our listener for others',
    { 'sec-fetch-site': 'same-site', origin: ORIGINAL_BASE },
    false,
    false,
  ],
  [
    'a subdomain',
    { 'sec-fetch-site': 'same-site', origin: 'https://x.cloud.example' },
    false,
    false,
  ],
  ['a site that names us', { 'sec-fetch-site': 'cross-site', origin: BASE }, false, false],
  [
    'another site',
    { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    false,
    false,
  ],
  ['an address typed in', { 'sec-fetch-site': 'none' }, false, false],
  ['an old browser', { origin: BASE }, false, false],
  ['no browser', {}, false, false],
  ['two values', { 'sec-fetch-site': 'same-origin, same-origin', origin: BASE }, false, false],
]

const methods = [
  { method: 'GET', path: '/api/session', isRead: true, done: 200 },
  { method: 'HEAD', path: '/api/session', isRead: true, done: 200 },
  { method: 'PUT', path: '/api/vApp/ENTITY/metadata/colour', isRead: false, done: 202 },
  { method: 'POST', path: '/api/vApp/ENTITY/metadata', isRead: false, done: 202 },
  { method: 'DELETE', path: '/api/vApp/ENTITY/metadata/colour', isRead: false, done: 202 },
] as const

const bodies: Readonly<Record<string, string>> = {
  PUT: '<MetadataValue><Value>red</Value></MetadataValue>',
  POST: '<Metadata><MetadataEntry><Key>colour</Key><Value>red</Value></MetadataEntry></Metadata>',
}

async function apiToken(): Promise<string> {
  const { text } = await api.ask('POST', '/api/session/tokens', {
    token: api.eng.token,
    body: '<AccessTokenParams name="for a cookie"/>',
  })
  return /skat_[\w-]+/.exec(text)?.[0] ?? assert.fail(text)
}

/** Cookies, and whether one is the session of a page. */
async function cookies(): Promise<readonly (readonly [string, string, boolean])[]> {
  const { token } = api.eng
  const name = ours.pageCookie ?? ''
  return [
    ['a session', `${name}=${token}`, true],
    ['a session among others', `a=b; ${name}=${token}; c=d`, true],
    ['an invalid session', `${name}=guess`, false],
    ['an empty one', `${name}=`, false],
    ['two', `${name}=${token}; ${name}=${token}`, false],
    ['an API token', `${name}=${await apiToken()}`, false],
    ['the cookie of other clients', `${ours.cookie}=${token}`, false],
    ['that of the other dialect', `${original.cookie}=${token}`, false],
    ['a longer name', `x${name}=${token}`, false],
    ['a name in capitals', `${name.toUpperCase()}=${token}`, false],
  ]
}

test('a cookie counts for requests of our own pages only: headers × methods × cookies', async () => {
  const path = (of: string): string => of.replace('ENTITY', api.eng.ids['entity'] ?? '')
  const kinds = await cookies()
  let admitted = 0
  for (const [who, headers, reads, changes] of senders) {
    for (const [kind, cookie, isSession] of kinds) {
      for (const { method, path: of, isRead, done } of methods) {
        const status = await statusOf(
          method,
          path(of),
          { accept: XML, ...headers, cookie },
          { body: bodies[method] },
        )
        const isAdmitted = isSession && (isRead ? reads : changes)
        assert.equal(status, isAdmitted ? done : 401, `${who}, ${kind}, ${method}`)
        admitted += Number(isAdmitted)
      }
    }
  }
  assert.equal(admitted, 2 * (5 + 4 * 2))
})

const page = { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors', origin: BASE }

test('a header wins over the cookie, also if its token is invalid', async () => {
  const cookie = `${ours.pageCookie}=${api.eng.token}`
  const ask = (more: Headers) =>
    api.ask('GET', '/api/session', { headers: { ...page, cookie, ...more } })
  assert.equal((await ask({ [ours.tokenHeader]: 'guess' })).status, 401)
  assert.equal((await ask({ authorization: 'Bearer guess' })).status, 401)
  assert.equal((await ask({ authorization: 'Basic Z3Vlc3M=' })).status, 401)
  const other = await ask({ [ours.tokenHeader]: api.ops.token })
  assert.match(other.text, /org="ops"/)
  assert.match((await ask({})).text, /org="eng"/)
})

test('the listener of the original dialect accepts no cookie', async () => {
  const [, old] = api.spoken
  for (const name of [ours.pageCookie ?? '', ours.cookie, original.cookie]) {
    const headers = { ...page, origin: ORIGINAL_BASE, cookie: `${name}=${api.eng.token}` }
    const { status } = await old.ask('GET', '/api/session', { headers })
    assert.equal(status, 401, name)
  }
})

test('a page logs in and out: the token is in its cookie only; others get what they always got', async () => {
  const coded = Buffer.from('alice@eng:secret').toString('base64')
  const opened = await api.ask('POST', '/api/sessions', {
    headers: { ...page, authorization: `Basic ${coded}` },
  })
  const [set = '', ...others] = opened.headers['set-cookie'] ?? []
  const found = /^(__Host-cloud-token=[\w-]{43}); Secure; Path=\/; HttpOnly; SameSite=Strict$/.exec(
    set,
  )
  const cookie = found?.[1] ?? assert.fail(set)
  assert.deepEqual(others, [])
  assert.equal(opened.headers[ours.tokenHeader], undefined)
  const left = await api.ask('DELETE', '/api/session', { headers: { ...page, cookie } })
  assert.equal(left.status, 204)
  assert.deepEqual(left.headers['set-cookie'], [
    '__Host-cloud-token=; Secure; Path=/; HttpOnly; SameSite=Strict; Max-Age=0',
  ])
  assert.equal((await api.ask('GET', '/api/session', { headers: { ...page, cookie } })).status, 401)

  // Another site cannot log the user in as somebody else.
  const planted = await api.ask('POST', '/api/sessions', {
    headers: { ...page, origin: 'https://evil.example', authorization: `Basic ${coded}` },
  })
  for (const answer of [planted, await logIn(api.ask, 'alice@eng')]) {
    const token = String(answer.headers[ours.tokenHeader])
    assert.deepEqual(answer.headers['set-cookie'], [
      `cloud-token=${token}; Secure; Path=/; HttpOnly; SameSite=Strict`,
    ])
    const gone = await api.ask('DELETE', '/api/session', { token })
    assert.equal(gone.headers['set-cookie'], undefined)
  }
})

test('a browser gets no challenge, and no response of the API can be rendered or read by other sites', async () => {
  const requested = { 'sec-fetch-mode': 'cors' }
  assert.equal(
    (await api.ask('GET', '/api/session', { headers: requested })).headers['www-authenticate'],
    undefined,
  )
  assert.ok((await api.ask('GET', '/api/session')).headers['www-authenticate'])
  const [, old] = api.spoken
  assert.ok(
    (await old.ask('GET', '/api/session', { headers: requested })).headers['www-authenticate'],
  )
  const { token } = api.eng
  const answers = [
    await api.ask('GET', '/api/session', { token }),
    await api.ask('GET', '/api/versions'),
    await api.ask('GET', '/api/session'),
    await api.ask('GET', '/api/nothing'),
    await api.ask('GET', `/api/${'x'.repeat(2000)}`),
    await api.ask('GET', '/api/%zz'),
    await api.ask('POST', '/api/sessions'),
  ]
  for (const { status, headers } of answers) {
    assert.equal(headers['x-content-type-options'], 'nosniff', String(status))
    assert.equal(
      headers['content-security-policy'],
      "default-src 'none'; frame-ancestors 'none'; sandbox",
    )
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin')
    for (const name of Object.keys(headers)) assert.doesNotMatch(name, /^access-control-/)
  }
})

test('responses to input that is not HTTP have the same restrictions', async () => {
  const long = `GET /api/versions HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`
  const inputs = [
    [400, 'not HTTP\r\n\r\n'],
    [431, long],
  ] as const
  for (const [status, input] of inputs) {
    const socket = connect({ port: api.port, host: '127.0.0.1' })
    socket.write(input)
    const answer = await text(socket)
    assert.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `))
    for (const [name, value] of Object.entries(restrictions)) {
      assert.ok(answer.includes(`\r\n${name}: ${value}\r\n`), `${status} ${name}`)
    }
  }
})

test('no GET changes a row, whatever the role', async () => {
  const token = await api.enter(api.eng.org, 'system administrator')
  const tried = routes.filter(({ method }) => method === 'GET')
  assert.ok(tried.length > 30, String(tried.length))
  for (const route of tried) {
    const ids = await idsFor(api, route, await api.enter(api.eng.org, 'author'))
    const path = pathOf(route, ids)
    const headers = { ...acceptOf(route), [ours.tokenHeader]: token }
    // The time of the last use is no effect of the request itself.
    await sql`update session set seen_at = clock_timestamp()`.execute(api.cloud.db)
    const before = await everythingOf(api, api.eng.org)
    await statusOf('GET', path, headers, { isStream: rowOf(route).streams === true })
    assert.equal(await everythingOf(api, api.eng.org), before, route.name)
  }
})
