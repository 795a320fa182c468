// Logins with a real Keycloak: its realm is made as docs/guides/identity.md says.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startKeycloak, until } from '@skerry/lab'
import type { Page } from 'playwright-core'

import { startBrowser } from '../../web/browser.ts'
import { loginWithCode } from './device-login.ts'
import { person, Realm } from './keycloak-realm.ts'
import type { Proof } from './proof.ts'
import { listVms, startProvedCell } from './proved-cell.ts'
import { enterBySso, SESSION_COOKIE, sessionOf, signInAt } from './sso-login.ts'

/** What "within seconds" means on a busy machine. */
const LOGOUT_MS = 10_000

export async function proveKeycloak(proof: Proof): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const on = stack.use(await startProvedCell())
  const { cell, url } = on
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'prove-keycloak-')))
  const keycloak = await proof.show('starts', async () =>
    stack.use(await startKeycloak({ dir: dir.path, trusts: cell.ca })),
  )
  const people = [person('anna', 'cloud-admins'), person('bert', 'developers'), person('carl')]
  const browser = stack.use(await startBrowser({ url, isUntrusted: true }))

  const realm = await proof.show('is added with `skerry identity create`, and tested', async () => {
    const made = await Realm.create(keycloak, 'corp', people)
    await made.join(on)
    return made
  })
  const signIn = (page: Page, name: string) => signInAt(realm, page, name)
  const tokenOf = (page: Page) => sessionOf(page, url)
  const enter = (name: string) =>
    enterBySso({ url, browser, name, signIn: (page) => signIn(page, name) })

  const anna = await proof.show(
    'anna logs in with Chromium; a group gives a role',
    async (note) => {
      const entered = await enter('anna')
      assert.equal(await on.statusOf(entered.token), 200)
      assert.equal(await on.roleOf('anna'), 'organisation administrator')
      note('organisation administrator')
      return entered
    },
  )

  const bert = await proof.show(
    '`skerry login` by a code that bert allows in Chromium',
    async (note) => {
      const login = await loginWithCode({
        cloud: { url, ca: cell.ca },
        browser,
        user: 'bert@blue',
        logIn: (page) => signIn(page, 'bert'),
      })
      assert.equal(await listVms(login.profiles), 0)
      assert.equal(await on.roleOf('bert'), 'author')
      note('author')
      return login
    },
  )

  await proof.show('carl, in no group with a role, reads why', async () => {
    const page = await browser.open({ user: '', path: '/login?org=blue' })
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    await signIn(page, 'carl')
    await page.getByRole('alert').getByText('you have no access here').waitFor()
    assert.equal(await on.roleOf('carl'), undefined)
  })

  await proof.show(
    'bert leaves the group: with the next login, session and API token end',
    async () => {
      const { page, profiles } = bert
      const token = await tokenOf(page)
      assert.equal(await on.statusOf(token), 200)
      await realm.changeMember('DELETE', 'bert', 'developers')
      await page.context().clearCookies({ name: SESSION_COOKIE })
      await page.goto(`${url}/ui/login?org=blue`)
      await page.getByRole('link', { name: 'Log in with sso' }).click()
      // Keycloak remembers bert: it asks for nothing.
      await page.getByRole('alert').getByText('you have no access here').waitFor()
      assert.equal(await on.statusOf(token), 401)
      assert.equal(await listVms(profiles), 1)
    },
  )

  await proof.show('bert comes back in another group, with its role', async (note) => {
    const { page, profiles } = bert
    await realm.changeMember('PUT', 'bert', 'cloud-admins')
    await page.goto(`${url}/ui/login?org=blue`)
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    await page.waitForURL((to) => to.origin === url && !to.pathname.startsWith('/ui/login'))
    assert.equal(await on.statusOf(await tokenOf(page)), 200)
    assert.equal(await on.roleOf('bert'), 'organisation administrator')
    assert.equal(await listVms(profiles), 1, 'the earlier API token stays invalid')
    note('organisation administrator')
  })

  /** How long after the end of a session at Keycloak that here ends. */
  const secondsUntilOut = async (token: string, logOut: () => Promise<void>): Promise<string> => {
    assert.equal(await on.statusOf(token), 200)
    const began = performance.now()
    await logOut()
    await until('the session ends', async () => (await on.statusOf(token)) === 401, LOGOUT_MS)
    return `${((performance.now() - began) / 1000).toFixed(2)} s after it`
  }
  await proof.show('anna logs out at Keycloak: that session ends, others go on', async (note) => {
    const { page, token } = anna
    await page.goto(`${realm.issuer}/protocol/openid-connect/logout`)
    note(await secondsUntilOut(token, () => page.locator('#kc-logout').click()))
    assert.equal(await on.statusOf(await tokenOf(bert.page)), 200)
    await page.goto(`${url}/ui/vms`)
    await page.waitForURL('**/ui/login?to=**')
  })
  await proof.show('an administrator signs bert out at Keycloak: the same', async (note) => {
    const token = await tokenOf(bert.page)
    note(await secondsUntilOut(token, () => realm.signOut('bert')))
  })
  assert.deepEqual(browser.problems, [])
}
