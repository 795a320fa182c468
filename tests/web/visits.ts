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
  if (user !== '') await logIn(page, url, user)
  return {
    page,
    settled: () => page.evaluate('probe.settled()'),
    visit: (path) => page.evaluate(`probe.visit(${JSON.stringify(`/ui${path}`)})`),
    [Symbol.asyncDispose]: () => page.context().close(),
  }
}
