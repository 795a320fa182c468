// Goal: users log in with their browser at the OpenID Connect server of their organisation, as the guide says. Method: a cell in its own
// process with TLS and the web UI, a real PostgreSQL, a real oidc-provider on another site, Chromium, and skerry.
import assert from 'node:assert/strict'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip, startOpenIdServer, type OpenIdServer } from '@skerry/lab'
import type { Page } from 'playwright-core'

import type { Profile } from '../../apps/cli/src/profiles/profiles.ts'
import { skerry } from '../../apps/cli/test/terminal.ts'
import { startLoneCell, type LoneCell } from '../attack/lone-cell.ts'
import { startBrowser, type WebBrowser } from '../web/browser.ts'
import { loginWithCode, NOWHERE } from './identity/device-login.ts'
import { insist } from './identity/insist.ts'

const skip = reasonToSkip('cloud', 'identity') ?? false

let cell: LoneCell
let server: OpenIdServer
let browser: WebBrowser
let profile: Profile
const redirects: string[] = ['https://127.0.0.1/none']
const stack = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  cell = stack.use(await startLoneCell())
  server = stack.use(await startOpenIdServer({ host: 'localhost', redirects }))
  server.groups.set('anna', ['developers']).set('bert', ['developers'])
  const url = `https://127.0.0.1:${cell.port}`
  browser = stack.use(await startBrowser({ url, isUntrusted: true }))
  await cell.addOrg('blue')
  const token = await cell.enter(await cell.addOrg('System'), 'system administrator')
  profile = { url, user: 'ruler@System', token, ca: cell.ca }
})
after(() => stack.disposeAsync())

const rule = (...words: readonly string[]) => insist(profile, server.secret, words)

/** Logs in at the identity server, whose page is open. */
async function sayWho(page: Page, name: string): Promise<void> {
  await page.waitForURL(`${server.issuer}/**`)
  await page.getByLabel('Name').fill(name)
  await page.getByRole('button', { name: 'Go on' }).click()
}

suite('people of an OpenID Connect server', { skip }, () => {
  test('an administrator adds the server with skerry, tests it, and sees it', async () => {
    const ca = stack.use(await mkdtempDisposable(join(tmpdir(), 'openid-')))
    const pem = join(ca.path, 'ca.pem')
    await writeFile(pem, server.ca)
    const at = ['--issuer', server.issuer, '--client', server.client, '--ca', pem]
    const to = ['--org', 'blue', '--group', 'developers=author', '--json']
    const made = await rule('identity', 'create', 'sso', ...at, ...to)
    assert.equal(made.code, 0, made.err)
    const { redirectUrl } = JSON.parse(made.out) as { readonly redirectUrl: string }
    assert.match(redirectUrl, /^https:\/\/127\.0\.0\.1:\d+\/login\/[0-9a-f-]{36}\/back$/)
    redirects.push(redirectUrl)
    server.rotateKeys()
    const tested = await rule('identity', 'test', 'sso', '--org', 'blue', '--json')
    assert.equal(tested.code, 0, tested.err)
    const both = await rule('identity', 'create', 'x', '--issuer', server.issuer)
    assert.equal(both.code, 2, both.err)
  })

  test('the login page leads there and back to the same page, in Chromium', async () => {
    const page = await browser.open({ user: '', path: '/settings' })
    await page.waitForURL('**/ui/login?to=**')
    await page.getByLabel('User').fill('@blue')
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    await sayWho(page, 'anna')
    await page.waitForURL('**/ui/settings')
    await page.getByText('anna').first().waitFor()
    // The button is there at once from now on, and the identity server remembers the person.
    await page.context().clearCookies({ name: '__Host-cloud-token' })
    await page.goto(`${profile.url}/ui/vms`)
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    await page.waitForURL('**/ui/vms')
    const cookies = await page.context().cookies(profile.url)
    const session = cookies.find(({ name }) => name === '__Host-cloud-token')
    assert.deepEqual(
      [session?.httpOnly, session?.secure, session?.sameSite],
      [true, true, 'Strict'],
    )
    assert.deepEqual(browser.problems, [])
  })

  test('skerry logs in by a code that Chromium allows, with a login at the identity server between', async () => {
    const { profiles } = await loginWithCode({
      cloud: { url: profile.url, ca: cell.ca },
      browser,
      user: 'bert@blue',
      logIn: (page) => sayWho(page, 'bert'),
    })
    assert.equal((await skerry(NOWHERE, ['vm', 'list'], { profiles })).code, 0)
    assert.deepEqual(browser.problems, [])
  })

  test('a user in no group with a role reads why, and another site cannot begin a login', async () => {
    const page = await browser.open({ user: '', path: '/login?org=blue' })
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    await sayWho(page, 'stranger')
    await page.getByRole('alert').getByText('you have no access here').waitFor()
    const { pathname } = new URL(redirects.at(-1) ?? '')
    // A page of another site that leads the browser to the beginning of a login.
    await page.route('https://localhost:1/', (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<a href="${profile.url}${pathname.replace('/back', '')}">win</a>`,
      }),
    )
    await page.goto('https://localhost:1/')
    await page.getByRole('link', { name: 'win' }).click()
    await page.waitForURL('**/ui/login')
    await page.getByLabel('Password').waitFor()
  })
})
