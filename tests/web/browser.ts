// A Chromium whose pages report every violation of the page's policy and every error of its scripts.
import { BROWSER } from '@skerry/lab'
import { chromium, type Browser, type Page } from 'playwright-core'

import { PASSWORD } from './simulated-cell/callers.ts'

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
/** For whatever a page does on a busy machine; no limit of the product. */
export const PATIENCE_MS = 60_000

export interface ServedAt {
  readonly url: string
  /** Default: that of the simulated cell. */
  readonly password?: string
  /** The port on this machine that answers for the host of the URL. Default: the URL's own. */
  readonly port?: number
  /** Its certificate is of an issuer that no browser knows. Default: that it has a port of this machine. */
  readonly isUntrusted?: boolean
}

export async function startBrowser(at: ServedAt): Promise<WebBrowser> {
  const { hostname } = new URL(at.url)
  const mapped =
    at.port === undefined ? [] : [`--host-resolver-rules=MAP ${hostname}:443 127.0.0.1:${at.port}`]
  const browser = await chromium.launch({
    executablePath: BROWSER,
    args: ['--no-sandbox', ...mapped],
  })
  const problems: string[] = []
  return {
    problems,
    open: (options = {}) => open(browser, at, problems, options),
    [Symbol.asyncDispose]: () => browser.close(),
  }
}

async function open(
  browser: Browser,
  at: ServedAt,
  problems: string[],
  { width = 1440, isDark = false, user = 'alice@eng', path = '/vms' }: PageOptions,
): Promise<Page> {
  const context = await browser.newContext({
    viewport: { width, height: HEIGHT },
    colorScheme: isDark ? 'dark' : 'light',
    hasTouch: width < 500,
    locale: 'en-GB',
    ignoreHTTPSErrors: at.isUntrusted ?? at.port !== undefined,
  })
  context.setDefaultTimeout(PATIENCE_MS)
  const page = await context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) problems.push(message.text())
  })
  if (user !== '') await logIn(page, at.url, user, at.password)
  await page.goto(`${at.url}/ui${path}`)
  return page
}

export async function logIn(
  page: Page,
  url: string,
  user: string,
  password = PASSWORD,
): Promise<void> {
  await page.goto(`${url}/ui/login`)
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(password)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL('**/ui/vms**')
}
