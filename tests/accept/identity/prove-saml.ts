// Logins of people whose server speaks SAML only, with a Keycloak between it and the cloud: both are made as docs/guides/identity.md says.
import assert from 'node:assert/strict'
import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { startKeycloak } from '@skerry/lab'
import type { Page } from 'playwright-core'

import { startBrowser } from '../../web/browser.ts'
import { person, Realm } from './keycloak-realm.ts'
import type { Proof } from './proof.ts'
import { startProvedCell } from './proved-cell.ts'
import { answersTo, bridgeSaml } from './saml-bridge.ts'
import { enterBySso, signInAt } from './sso-login.ts'

const BAD_REQUEST = 400

export async function proveSaml(proof: Proof): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const on = stack.use(await startProvedCell())
  const { cell, url } = on
  const dir = stack.use(await mkdtempDisposable(join(tmpdir(), 'prove-saml-')))
  const keycloak = await proof.show('starts', async () =>
    stack.use(await startKeycloak({ dir: dir.path, trusts: cell.ca })),
  )
  const browser = stack.use(await startBrowser({ url, isUntrusted: true }))

  const { bridge, saml } = await proof.show('a realm brokers a SAML server', async () => {
    const people = [person('dora', 'developers'), person('erik'), person('fred', 'developers')]
    const made = {
      saml: await Realm.create(keycloak, 'campus', people),
      bridge: await Realm.create(keycloak, 'corp'),
    }
    await bridgeSaml(made.bridge, made.saml)
    await made.bridge.join(on)
    return made
  })

  const signIn = (page: Page, name: string) => signInAt(saml, page, name)
  const enter = (name: string) =>
    enterBySso({ url, browser, name, signIn: (page) => signIn(page, name) })
  const openLogin = async () => {
    const page = await browser.open({ user: '', path: '/login?org=blue' })
    await page.getByRole('link', { name: 'Log in with sso' }).click()
    return page
  }

  await proof.show(
    'dora logs in with Chromium, by SAML and OpenID Connect; a group there gives a role here',
    async (note) => {
      const { token } = await enter('dora')
      assert.equal(await on.statusOf(token), 200)
      assert.equal(await on.roleOf('dora'), 'author')
      note('author')
    },
  )

  await proof.show(
    'dora gets another group there: the next login has its role, in the same account',
    async (note) => {
      await saml.changeMember('DELETE', 'dora', 'developers')
      await saml.changeMember('PUT', 'dora', 'cloud-admins')
      const { token } = await enter('dora')
      assert.equal(await on.statusOf(token), 200)
      assert.equal(await on.roleOf('dora'), 'organisation administrator')
      note('organisation administrator')
    },
  )

  await proof.show('dora leaves all groups there: the next login ends the session', async () => {
    const { token } = await enter('dora')
    await saml.changeMember('DELETE', 'dora', 'cloud-admins')
    const page = await openLogin()
    await signIn(page, 'dora')
    await page.getByRole('alert').getByText('you have no access here').waitFor()
    assert.equal(await on.statusOf(token), 401)
  })

  await proof.show('erik, in no group there, reads why', async () => {
    const page = await openLogin()
    await signIn(page, 'erik')
    await page.getByRole('alert').getByText('you have no access here').waitFor()
    assert.equal(await on.roleOf('erik'), undefined)
  })

  await proof.show('an answer that names another group on its way is refused', async () => {
    const page = await openLogin()
    await page.route(answersTo(bridge), async (route) => {
      const form = new URLSearchParams(route.request().postData() ?? '')
      const answer = Buffer.from(form.get('SAMLResponse') ?? '', 'base64').toString()
      const forged = answer.replaceAll('>developers<', '>cloud-admins<')
      assert.notEqual(forged, answer)
      form.set('SAMLResponse', Buffer.from(forged).toString('base64'))
      await route.continue({ postData: form.toString() })
    })
    const refused = page.waitForResponse(answersTo(bridge))
    await signIn(page, 'fred')
    assert.equal((await refused).status(), BAD_REQUEST)
    assert.equal(await on.roleOf('fred'), undefined)
  })
  assert.deepEqual(browser.problems, [])
}
