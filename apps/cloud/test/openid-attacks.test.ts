// Goal: nothing but a fresh proof of the right identity server for this browser is a login, and no identity server leads a cell anywhere
// else. Method: a server that forges whatever a test wants, and the tenant API.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import { sql } from 'kysely'

import { OpenIdLogins } from '../src/auth/openid-logins.ts'
import { FAILED_MS, OpenIdServers } from '../src/directories/ask-openid.ts'
import { guardedFetch } from '../src/directories/guarded-fetch.ts'
import { personOfClaims } from '../src/directories/person-of-claims.ts'
import type { OpenIdSettings } from '../src/domain/openid-settings.ts'
import { seal } from './cloud-database.ts'
import { forge, json, startForgingServer, type ForgingServer } from './forging-server.ts'
import { openOpenIdApi, PlainBrowser, type OpenIdApi } from './openid-api.ts'
import { BASE } from './tenants-api.ts'

let on: OpenIdApi
let forging: ForgingServer
let provider: Awaited<ReturnType<OpenIdApi['add']>>
before(async () => {
  on = await openOpenIdApi()
  forging = await startForgingServer()
  provider = await on.add({ issuer: forging.issuer, ca: forging.ca })
})
after(async () => {
  await provider[Symbol.asyncDispose]()
  await forging[Symbol.asyncDispose]()
  await on[Symbol.asyncDispose]()
})

const browse = (): PlainBrowser => new PlainBrowser(on.api.port, forging.ca)
const seconds = (): number => Math.floor(Date.now() / 1000)
const leaves = (url: URL): boolean => url.origin !== BASE || url.pathname.startsWith('/ui/')
const cross = { site: 'cross-site', stopAt: leaves } as const

const claimsFor = (nonce: string): Record<string, unknown> => ({
  iss: forging.issuer,
  aud: 'skerry',
  sub: 'subject',
  nonce,
  iat: seconds(),
  exp: seconds() + 300,
  preferred_username: 'gina',
  groups: ['developers'],
})

interface Forged {
  readonly claims?: Record<string, unknown>
  readonly how?: Parameters<typeof forge>[1]
  readonly query?: Record<string, string | undefined>
  readonly token?: (value: Record<string, unknown>) => object
}

/** A login with these lies. Returns the problem in the address of the login page; '' is a session. */
const tryLogin = (lie: Forged, at = provider.id): Promise<string> =>
  answered(() => tryOnce(lie, at))

/** On a busy machine, the server may take longer than a cell waits. */
async function answered(work: () => Promise<string>): Promise<string> {
  const done = await until('the identity server answers', async () => {
    const problem = await work()
    return problem !== 'unavailable' && { problem }
  })
  return done.problem
}

async function tryOnce({ claims, how, query = {}, token }: Forged, at: string): Promise<string> {
  const browser = browse()
  const away = await browser.go(`${BASE}/login/${at}`, { stopAt: leaves })
  if (away.url.origin === BASE) return away.url.searchParams.get('problem') ?? `${away.status}`
  const { state = '', nonce = '' } = Object.fromEntries(away.url.searchParams)
  const said = { ...claimsFor(nonce), ...claims }
  const given = { access_token: 'a', token_type: 'bearer', id_token: forge(said, how) }
  forging.answers.set('/token', json(token?.(given) ?? given))
  const back = new URL(`${BASE}/login/${at}/back`)
  for (const [name, value] of Object.entries({ code: 'c', state, ...query })) {
    if (value !== undefined) back.searchParams.set(name, value)
  }
  const page = await browser.go(back.href, cross)
  const problem = page.url.searchParams.get('problem') ?? ''
  const session = await on.sessionOf(browser)
  assert.equal(session === undefined, problem !== '', problem)
  return problem
}

test('the forging server can also say the truth', async () => {
  assert.equal(await tryLogin({}), '')
})

const lies: Readonly<Record<string, Forged>> = {
  'another issuer': { claims: { iss: 'https://other.example' } },
  'another audience': { claims: { aud: 'other' } },
  'several audiences, without the one that was asked for': { claims: { aud: ['other', 'more'] } },
  'an expired token': { claims: { exp: seconds() - 120 } },
  'the clock of the server is six minutes late': {
    claims: { iat: seconds() - 660, exp: seconds() - 360 },
  },
  'a token that is not valid yet': { claims: { nbf: seconds() + 360 } },
  'no nonce': { claims: { nonce: undefined } },
  'another nonce': { claims: { nonce: 'other' } },
  'no subject': { claims: { sub: undefined } },
  'no expiry': { claims: { exp: undefined } },
  'no signature': { how: 'none' },
  'signed with the public key as a secret': { how: 'HS256' },
  'signed by a stranger': { how: 'stranger' },
  'no ID token': { token: (given) => ({ ...given, id_token: undefined }) },
  'an ID token that is none': { token: (given) => ({ ...given, id_token: 'a.b.c' }) },
  'no code': { query: { code: undefined } },
  'an error, and a code': { query: { error: 'access_denied' } },
  'the answer of another server': { query: { iss: 'https://other.example' } },
}

for (const [name, lie] of Object.entries(lies)) {
  test(`no login: ${name}`, async () => {
    assert.equal(await tryLogin(lie), 'unproved')
  })
}

test('no login: no state, or one that was never issued', async () => {
  assert.equal(await tryLogin({ query: { state: 'x'.repeat(43) } }), 'attempt')
  const browser = browse()
  await browser.go(`${BASE}/login/${provider.id}`, { stopAt: leaves })
  const page = await browser.go(`${BASE}/login/${provider.id}/back?code=c`, cross)
  assert.equal(page.url.search, '?problem=attempt')
})

test('an identity server cannot answer for another one', async () => {
  await using other = await on.add({ name: 'other', issuer: forging.issuer, ca: forging.ca })
  const browser = browse()
  const away = await browser.go(`${BASE}/login/${provider.id}`, { stopAt: leaves })
  const state = away.url.searchParams.get('state') ?? ''
  const path = `/login/${other.id}/back?code=c&state=${state}`
  const asked = forging.asked.get('/token')
  assert.equal((await browser.go(`${BASE}${path}`, cross)).url.search, '?problem=attempt')
  assert.equal(forging.asked.get('/token'), asked)
})

test('an answer of the token endpoint that is away, huge, a redirection or a page is no login', async () => {
  const { answers } = forging
  const token = (answer: Parameters<typeof answers.set>[1]) => async () => {
    const browser = browse()
    const away = await browser.go(`${BASE}/login/${provider.id}`, { stopAt: leaves })
    answers.set('/token', answer)
    const state = away.url.searchParams.get('state') ?? ''
    const page = await browser.go(`${BASE}/login/${provider.id}/back?code=c&state=${state}`, cross)
    assert.equal(await on.sessionOf(browser), undefined)
    return page.url.searchParams.get('problem') ?? ''
  }
  const tries: [string, Parameters<typeof token>[0]][] = [
    ['unavailable', (response) => response.destroy()],
    ['unavailable', json({ a: 'x'.repeat(300_000) })],
    ['unproved', (response) => response.writeHead(302, { location: 'https://10.0.0.1/' }).end()],
    ['unproved', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['unproved', json({ error: 'invalid_grant' }, 400)],
  ]
  for (const [problem, answer] of tries) {
    const work = token(answer)
    assert.equal(await (problem === 'unavailable' ? work() : answered(work)), problem)
  }
})

test('a discovery document leads nowhere else', async () => {
  const { answers, issuer, ca } = forging
  const discovery: ForgingServer['discovery'] = (changes) => forging.discovery(changes)
  const path = '/.well-known/openid-configuration'
  const tries: [string, Parameters<typeof answers.set>[1]][] = [
    ['unproved', discovery({ issuer: 'https://other.example' })],
    ['unproved', discovery({ authorization_endpoint: 'http://127.0.0.1/' })],
    ['unproved', discovery({ authorization_endpoint: 'javascript:alert(1)' })],
    ['unavailable', discovery({ token_endpoint: 'https://10.0.0.1/token' })],
    ['unavailable', discovery({ token_endpoint: 'https://[::1]/token' })],
    ['unavailable', discovery({ token_endpoint: 'https://localhost/token' })],
    ['unproved', discovery({ token_endpoint: 'http://127.0.0.1/token' })],
    ['unavailable', discovery({ jwks_uri: 'https://169.254.169.254/' })],
    ['unproved', discovery({ jwks_uri: undefined })],
    ['unavailable', discovery({ padding: 'x'.repeat(300_000) })],
    ['unproved', (response) => response.writeHead(302, { location: 'https://10.0.0.1/' }).end()],
    ['unproved', (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>')],
    ['unavailable', (response) => response.destroy()],
    ['unavailable', () => undefined],
  ]
  try {
    for (const [problem, answer] of tries) {
      await using other = await on.add({ name: 'other', issuer, ca })
      answers.set(path, answer)
      const work = () => tryOnce({}, other.id)
      assert.equal(await (problem === 'unavailable' ? work() : answered(work)), problem)
    }
  } finally {
    answers.set(path, discovery())
  }
})

test('only a server with a certificate of its issuers is asked, and a name with an internal address is not', async () => {
  await using other = await on.add({ name: 'other', issuer: forging.issuer, ca: '' })
  assert.equal(await tryOnce({}, other.id), 'unavailable')
  const sent = { method: 'GET', headers: {} }
  for (const found of [['10.0.0.1'], ['93.184.215.14', '127.0.0.1'], []]) {
    const guard = { trusted: 'login.example', resolve: async () => found }
    await assert.rejects(guardedFetch(guard, 'https://other.example/', sent), /nor public/)
  }
  for (const address of ['http://127.0.0.1/', 'https://a:b@127.0.0.1/', 'file:///etc/passwd']) {
    await assert.rejects(guardedFetch({ trusted: '127.0.0.1' }, address, sent), /no plain HTTPS/)
  }
})

test('an identity server that is away is asked once by many logins', async () => {
  const path = '/.well-known/openid-configuration'
  await using other = await on.add({ name: 'other', issuer: forging.issuer, ca: forging.ca })
  forging.answers.set(path, json({}, 500))
  const before = forging.asked.get(path) ?? 0
  const began = performance.now()
  const pages = await Promise.all(
    Array.from({ length: 10 }, () => browse().go(`${BASE}/login/${other.id}`, { stopAt: leaves })),
  )
  forging.answers.set(path, forging.discovery())
  assert.deepEqual(new Set(pages.map(({ url }) => url.search)), new Set(['?problem=unproved']))
  const asked = (forging.asked.get(path) ?? 0) - before
  const took = performance.now() - began
  assert.ok(asked >= 1 && asked <= 1 + took / FAILED_MS, `asked ${asked} times in ${took} ms`)
})

test('another cell completes what one has begun, once', async () => {
  const { db } = on.api.cloud
  const servers = new OpenIdServers({ now: () => performance.now() })
  const sessions = { begin: async () => 'token' }
  const secret = () => crypto.randomUUID().replaceAll('-', '')
  const cells = [0, 1].map(
    () => new OpenIdLogins({ db, servers, sessions, seal, secret, base: new URL(BASE) }),
  )
  const asking = { provider: provider.id, browser: 'browser', address: '192.0.2.1' }
  const begun = await cells[0]?.begin({ ...asking, returnTo: '/ui/', isShared: false })
  const { state = '', nonce = '' } = Object.fromEntries(begun?.searchParams ?? [])
  const given = { access_token: 'a', token_type: 'bearer', id_token: forge(claimsFor(nonce)) }
  forging.answers.set('/token', json(given))
  const query = new URLSearchParams({ code: 'c', state })
  const done = await Promise.all(cells.map((each) => each.complete(asking, query)))
  assert.equal(done.filter((each) => each === 'attempt').length, 1)
  assert.deepEqual(
    done.find((each) => each !== 'attempt'),
    { token: 'token', returnTo: '/ui/' },
  )
})

test('a dump of the database shows neither verifier nor nonce of an attempt', async () => {
  const browser = browse()
  const away = await browser.go(`${BASE}/login/${provider.id}`, { stopAt: leaves })
  const { rows } = await sql<{
    all: string
  }>`select string_agg(to_jsonb(a)::text, '') as all from login_attempt a`.execute(on.api.cloud.db)
  const known = [...away.url.searchParams.values(), browser.cookie('__Host-cloud-login') ?? '']
  for (const each of known.filter((value) => value.length > 40 && !value.includes('/'))) {
    assert.ok(!rows[0]?.all.includes(each), each)
  }
})

const settings: OpenIdSettings = {
  issuer: 'https://login.example',
  client: 'skerry',
  scopes: 'openid',
  claims: { name: 'preferred_username', groups: 'groups' },
  acr: [],
  proofDays: 30,
}

test('a person is who the claims say, or it is clear what is missing', () => {
  const claims = { sub: 's', preferred_username: 'ann@corp.example', groups: ['a'] }
  const person = { subject: 's', enabled: true, groups: [{ dn: 'a', name: 'a' }] }
  const domain = 'Corp.example'
  const strict = { ...settings, acr: ['strong'] }
  const told = [
    [settings, claims, { ...person, name: 'ann@corp.example' }],
    [{ ...settings, domain }, claims, { ...person, name: 'ann' }],
    [{ ...settings, domain }, { ...claims, preferred_username: 'ann@evil.example' }, 'name'],
    [settings, { ...claims, groups: 'a' }, { ...person, name: 'ann@corp.example' }],
    [
      settings,
      { ...claims, groups: undefined },
      { ...person, name: 'ann@corp.example', groups: [] },
    ],
    [settings, { ...claims, groups: undefined, _claim_names: { groups: 'src1' } }, 'groups'],
    [settings, { ...claims, groups: [1] }, 'groups'],
    [settings, { ...claims, groups: { a: 1 } }, 'groups'],
    [settings, { ...claims, preferred_username: 1 }, 'name'],
    [settings, { ...claims, sub: 's'.repeat(256) }, 'name'],
    [strict, claims, 'acr'],
    [strict, { ...claims, acr: 'weak' }, 'acr'],
    [strict, { ...claims, acr: 'strong' }, { ...person, name: 'ann@corp.example' }],
  ] as const
  for (const [how, said, expected] of told) assert.deepEqual(personOfClaims(how, said), expected)
})
