// A Chromium whose pages report every violation of the page's policy and every error of its scripts.
import { chromium, type Browser, type Page } from 'playwright-core'

import { PASSWORD } from './simulated-cell/callers.ts'
import type { SimulatedCell } from './simulated-cell/server.ts'

export interface PageOptions {
  readonly width?: number
  readonly isDark?: boolean
  /** '': no one is logged in. */
  readonly user?: string
  readonly path?: string
}

export interface WebBrowser extends AsyncDisposable {
  /** A page in a context of its own. */
  open(options?: PageOptions): Promise<Page>
  /** Violations of the policy and errors of scripts, of all pages. */
  readonly problems: readonly string[]
}

const HEIGHT = 900

export async function startBrowser(cell: SimulatedCell): Promise<WebBrowser> {
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox'],
  })
  const problems: string[] = []
  return {
    problems,
    open: (options = {}) => open(browser, cell.url, problems, options),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

async function open(
  browser: Browser,
  url: string,
  problems: string[],
  { width = 1440, isDark = false, user = 'alice@eng', path = '/vms' }: PageOptions,
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme: isDark ? 'dark' : 'light',
    hasTouch: width < 500,
    locale: 'en-GB',
  })
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) problems.push(message.text())
  })
  if (user !== '') await logIn(page, url, user)
  await page.goto(`${url}/ui${path}`)
  return page
}

export async function logIn(page: Page, url: string, user: string): Promise<void> {
  await page.goto(`${url}/ui/login`)
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.waitForURL('**/ui/vms**')
}
