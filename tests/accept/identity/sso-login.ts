// A login in Chromium at the identity server `sso` of the organisation `blue`, which is a realm of Keycloak.
import type { Page } from 'playwright-core'

import type { WebBrowser } from '../../web/browser.ts'
import type { Realm } from './keycloak-realm.ts'

export const SESSION_COOKIE = '__Host-cloud-token'

export interface SsoLogin {
  readonly url: string
  readonly browser: WebBrowser
  /** The name that the web UI shows afterwards. */
  readonly name: string
  /** Logs in at the identity server, whose page is open. */
  readonly signIn: (page: Page) => Promise<void>
}

/** A new browser that is logged in, and its session. */
export async function enterBySso({
  url,
  browser,
  name,
  signIn,
}: SsoLogin): Promise<{ readonly page: Page; readonly token: string }> {
  const page = await browser.open({ user: '', path: '/settings' })
  await page.waitForURL('**/ui/login?to=**')
  await page.getByLabel('User').fill('@blue')
  await page.getByRole('link', { name: 'Log in with sso' }).click()
  await signIn(page)
  await page.waitForURL('**/ui/settings')
  await page.getByText(name).first().waitFor()
  return { page, token: await sessionOf(page, url) }
}

/** The token of the session in the browser. */
export const sessionOf = async (page: Page, url: string): Promise<string> =>
  (await page.context().cookies(url)).find(({ name }) => name === SESSION_COOKIE)?.value ?? ''

/** Fills in the page of a realm. */
export async function signInAt({ issuer }: Realm, page: Page, name: string): Promise<void> {
  await page.waitForURL(`${issuer}/**`)
  await page.locator('#username').fill(name)
  await page.locator('#password').fill(`${name}-secret`)
  await page.locator('#kc-login').click()
}
