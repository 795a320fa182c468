// Visits addresses within the app, as links do, and knows when a page has all its data: nothing sleeps, nothing is loaded twice.
import type { Page } from 'playwright-core'

import { logIn, type WebBrowser } from './browser.ts'
import { inPage } from './in-page.ts'

export interface Visitor extends AsyncDisposable {
  readonly page: Page
  /** Goes to an address of the app, and returns when it is shown completely. */
  visit(path: string): Promise<void>
  /** Waits until what is shown is complete. */
  settled(): Promise<void>
}

export const dockOf = (page: Page) =>
  page.getByRole('complementary', { name: 'Console', exact: true })

/** Waits until the console that is shown has this state. */
export const untilConsole = (page: Page, state: string): Promise<void> =>
  dockOf(page)
    .getByRole('status')
    .filter({ visible: true })
    .getByText(state, { exact: true })
    .waitFor()

/** Opens the console of the VM whose page is shown. */
export async function openConsole(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Console', exact: true }).first().click()
  await untilConsole(page, 'Connected')
}

/** A page of the simulated cell with this user logged in; '': no one, at the login. */
export async function startVisits(
  browser: WebBrowser,
  url: string,
  { user, width }: { readonly user: string; readonly width: number },
): Promise<Visitor> {
  const page = await browser.open({ user: '', path: '/login', width })
  await page.context().addInitScript({ content: inPage('probe') })
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.reload()
  if (user !== '') {
    await logIn(page, url, user)
    // The address changes before its page is drawn: a visit would begin at the login.
    await page.locator('#main > :last-child').waitFor({ state: 'attached' })
  }
  return {
    page,
    settled: () => page.evaluate('probe.settled()'),
    visit: (path) => page.evaluate(`probe.visit(${JSON.stringify(`/ui${path}`)})`),
    [Symbol.asyncDispose]: () => page.context().close(),
  }
}
