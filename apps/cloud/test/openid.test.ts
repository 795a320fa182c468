// Goal: people log in with their browser at the OpenID Connect server of their organisation, and only they. Method: the tenant API, a
// real oidc-provider, and a browser of plain HTTP.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startOpenIdServer, until, type OpenIdServer } from '@skerry/lab'
import { childrenByLocalName, text } from '@skerry/xml'
import { sql } from 'kysely'

import { returnTo } from '../src/web-ui/login-pages.ts'
import { openOpenIdApi, PlainBrowser, type OpenIdApi, type Page } from './openid-api.ts'
import { BASE, logIn, read } from './tenants-api.ts'

let on: OpenIdApi
let server: OpenIdServer
let provider: Awaited<ReturnType<OpenIdApi['add']>>
const redirects: string[] = []
before(async () => {
  on = await openOpenIdApi()
  server = await startOpenIdServer({ redirects: (redirects.push(`${BASE}/none`), redirects) })
  provider = await on.add(of(server))
  const [redirect] = childrenByLocalName(provider.document, 'RedirectUrl')
  redirects.push(text(redirect) ?? '')
  server.rotateKeys()
  server.groups.set('anna', ['admins', 'others']).set('bob', ['developers'])
})
after(async () => {
  await provider[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
  await on[Symbol.asyncDispose]()
})

const of = ({ issuer, ca }: OpenIdServer) => ({ issuer, ca })
const browse = (): PlainBrowser => new PlainBrowser(on.api.port, server.ca)
const begin = (): string => `${BASE}/login/${provider.id}`
const isBack = (url: URL): boolean => url.origin === BASE && url.pathname.endsWith('/back')

const isPage = (url: URL): boolean => url.origin === BASE && url.pathname.startsWith('/ui/')
const cross = { site: 'cross-site', stopAt: isPage } as const

/** What the identity server answers: on a busy machine, it may take longer than a cell waits. */
const answered = (work: () => Promise<Page>): Promise<Page> =>
  until('the identity server answers', async () => {
    const page = await work()
    return page.url.search !== '?problem=unavailable' && page
  })

/** Goes to the identity server, says who it is, and stops before it comes back. */
async function comeBack(browser: PlainBrowser, name: string, to = '/ui/vms'): Promise<Page> {
  const path = `${begin()}?to=${encodeURIComponent(to)}`
  const asked = await answered(() => browser.go(path, { stopAt: isBack }))
  if (isBack(asked.url)) return asked
  const body = new URLSearchParams({ name }).toString()
  return browser.go(asked.url.href, { method: 'POST', body, stopAt: isBack })
}

const enter = (browser: PlainBrowser, name: string, to?: string): Promise<Page> =>
  answered(async () => {
    const { url } = await comeBack(browser, name, to)
    return browser.go(url.href, cross)
  })

test('a person logs in with the browser, and is who the groups say', async () => {
  const browser = browse()
  const listed = async (org: string) =>
    JSON.parse((await browser.go(`${BASE}/login/servers?org=${org}`)).text) as unknown
  assert.deepEqual(await listed('eng'), [{ name: 'sso', href: `/login/${provider.id}` }])
  for (const org of ['', 'ops', 'none']) assert.deepEqual(await listed(org), [])
  const page = await enter(browser, 'anna', '/ui/vms?q=1')
  assert.equal(page.url.href, `${BASE}/ui/vms?q=1`)
  assert.deepEqual(await on.sessionOf(browser), {
    user: 'anna',
    role: 'organisation administrator',
  })
  const [cookie] = [page.headers['set-cookie'] ?? []].flat()
  assert.match(
    cookie ?? '',
    /^__Host-cloud-token=[\w-]{43}; Secure; Path=\/; HttpOnly; SameSite=Strict$/,
  )
  assert.equal(page.headers['cache-control'], 'no-store')
  const [begun] = (await on.eventsOf('session.begun')).slice(-1)
  assert.deepEqual([begun?.['by'], begun?.['via']], ['anna', 'sso'])
})

test('the cookie of an attempt and the state fit one browser, once', async () => {
  const anna = browse()
  const first = await comeBack(anna, 'anna')
  const thief = browse()
  const wrong = await thief.go(first.url.href, cross)
  assert.equal(wrong.url.search, '?problem=attempt')
  assert.equal(await on.sessionOf(thief), undefined)
  // A state is used up by the first browser that comes with it.
  assert.equal((await anna.go(first.url.href, cross)).url.search, '?problem=attempt')
  let again = first
  const page = await answered(async () => {
    again = await comeBack(anna, 'anna')
    return anna.go(again.url.href, cross)
  })
  assert.equal(page.url.pathname, '/ui/vms')
  assert.equal((await anna.go(again.url.href, cross)).url.search, '?problem=attempt')
  // The same code with a state of another attempt: oidc-provider accepts a code once.
  const third = await answered(async () => {
    const { url: next } = await comeBack(anna, 'anna')
    next.searchParams.set('code', again.url.searchParams.get('code') ?? '')
    return anna.go(next.href, cross)
  })
  assert.equal(third.url.search, '?problem=unproved')
})

test('an attempt is over after ten minutes, and with its identity server', async () => {
  const { db } = on.api.cloud
  const browser = browse()
  const { url } = await comeBack(browser, 'anna')
  await sql`update login_attempt set began_at = began_at - interval '11 min'`.execute(db)
  assert.equal((await browser.go(url.href, cross)).url.search, '?problem=attempt')
  const other = await comeBack(browser, 'anna')
  await sql`update identity_provider set disabled = true where id = ${provider.id}`.execute(db)
  assert.equal((await browser.go(other.url.href, cross)).url.search, '?problem=attempt')
  assert.equal((await browser.go(begin())).status, 404)
  await sql`update identity_provider set disabled = false where id = ${provider.id}`.execute(db)
})

test('another site begins no login, and no return leads to another site', async () => {
  const browser = browse()
  const begun = await browser.go(begin(), cross)
  assert.equal(begun.url.pathname, '/ui/login')
  assert.equal(browser.cookie('__Host-cloud-login'), undefined)
  const base = new URL(BASE)
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/ui', '', null]) {
    assert.equal(returnTo(to, base), '/ui/', String(to))
  }
  for (const to of ['/ui/../api/org', '/ui/%2e%2e/api', '/ui/\n', '/ui/\u00e9', 'javascript:1']) {
    assert.equal(returnTo(to, base), '/ui/', to)
  }
  assert.equal(returnTo('/ui/device?code=A#b', base), '/ui/device?code=A#b')
  assert.equal((await enter(browser, 'anna', '//evil.example')).url.href, `${BASE}/ui/`)
})

test('groups are read at each login, and the last one lost is the end', async () => {
  const browser = browse()
  await enter(browser, 'bob')
  assert.equal((await on.sessionOf(browser))?.role, 'author')
  server.groups.set('bob', ['Developers'])
  const other = browse()
  assert.equal((await enter(other, 'bob')).url.search, '?problem=access')
  assert.equal(await on.sessionOf(browser), undefined)
  assert.equal((await on.eventsOf('session.refused')).at(-1)?.['why'], 'access')
  server.groups.set('bob', ['developers', 'admins'])
  await enter(other, 'bob')
  assert.equal((await on.sessionOf(other))?.role, 'organisation administrator')
  server.names.set('bob', 'robert')
  await enter(other, 'bob')
  assert.equal((await on.sessionOf(other))?.user, 'robert')
  server.names.delete('bob')
  server.groups.set('bob', ['developers'])
})

test('no account is taken over by its name, and none has a password', async () => {
  const { db } = on.api.cloud
  await sql`insert into account (org, name, role, password) values (${on.api.eng.org}, 'dave', 'author', 'x')`.execute(
    db,
  )
  server.groups.set('dave', ['admins']).set('frank@corp', ['admins'])
  for (const name of ['dave', 'frank@corp', 'nobody']) {
    const browser = browse()
    assert.equal((await enter(browser, name)).url.search, '?problem=access', name)
    assert.equal(await on.sessionOf(browser), undefined)
  }
  await enter(browse(), 'anna')
  assert.equal((await logIn(on.api.ask, 'anna@eng', 'anna')).status, 401)
  const { rows } =
    await sql`select from account where name = 'dave' and provider is not null`.execute(db)
  assert.equal(rows.length, 0)
})

test('twenty first logins at once make one account', async () => {
  server.groups.set('erin', ['developers'])
  const browsers = Array.from({ length: 20 }, browse)
  const came = await Promise.all(browsers.map((each) => comeBack(each, 'erin')))
  const back = browsers.map(async (each, at) => {
    const page = await each.go(came[at]?.url.href ?? '', cross)
    return page.url.search === '?problem=unavailable' ? enter(each, 'erin') : page
  })
  const pages = await Promise.all(back)
  assert.deepEqual(new Set(pages.map(({ url }) => url.pathname)), new Set(['/ui/vms']))
  const { rows } = await sql<{ sessions: number }>`select count(*)::integer as sessions
    from account join session on session.account = account.id where name = 'erin' group by account.id`.execute(
    on.api.cloud.db,
  )
  assert.deepEqual(rows, [{ sessions: 20 }])
  await sql`delete from login_attempt`.execute(on.api.cloud.db)
})

test('keys that the identity server changes are found', async (context) => {
  context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
  server.rotateKeys()
  context.mock.timers.tick(61_000)
  const browser = browse()
  await enter(browser, 'anna')
  assert.equal((await on.sessionOf(browser))?.user, 'anna')
})

test('the document names what to register, and never the secret', async () => {
  const { api, ruler } = on
  const document = read(await api.ask('GET', provider.path, { token: ruler }))
  assert.ok(!JSON.stringify(document).includes(server.secret))
  assert.deepEqual(redirects.slice(1), [`${BASE}/login/${provider.id}/back`])
  const tested = await api.ask('POST', `${provider.path}/action/test`, { token: ruler })
  assert.match(tested.text, /answers="true"/)
  const body = on
    .bodyOf({ ...of(server), name: 'other', client: 'other' })
    .replace(/<Password>.*<\/Password>/, '')
  const put = await api.ask('PUT', provider.path, { token: ruler, body })
  assert.equal(put.status, 400, put.text)
  for (const wrong of [
    on.bodyOf({ ...of(server), issuer: 'http://127.0.0.1' }),
    on.bodyOf({ ...of(server), issuer: 'https://a@127.0.0.1' }),
    on.bodyOf({ ...of(server), issuer: 'https://127.0.0.1/?a' }),
    on.bodyOf({ ...of(server), ca: 'none' }),
    on.bodyOf({ ...of(server), more: '<Domain>a b</Domain>' }),
    on.bodyOf({ ...of(server), more: '<Scopes>"</Scopes>' }),
    on.bodyOf(of(server)).replace('oidc', 'saml'),
  ]) {
    const refused = await api.ask('POST', on.listPath(), { token: ruler, body: wrong })
    assert.equal(refused.status, 400, wrong)
  }
  const { rows } = await sql<{
    all: string
  }>`select (select string_agg(to_jsonb(e)::text, '') from event e) || '' as all`.execute(
    api.cloud.db,
  )
  assert.ok(!rows[0]?.all.includes(server.secret))
})

test('one network has a limited number of open attempts', async () => {
  const { db } = on.api.cloud
  await sql`insert into login_attempt (state_hash, org, provider, browser_hash, sealed, return_to, network)
    select sha256(n::text::bytea), ${on.api.eng.org}, ${provider.id}, '', '', '/', '127.0.0.1' from generate_series(1, 64) n`.execute(
    db,
  )
  assert.equal((await browse().go(begin(), { stopAt: () => true })).status, 429)
  await sql`delete from login_attempt`.execute(db)
})
