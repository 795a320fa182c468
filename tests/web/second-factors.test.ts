// Goal: a second factor is asked for at the login with nothing typed lost, added with a QR code that readers read, and removed; an
// organisation that requires one leads its users to it. Method: Chromium against a simulated cell, axe, and longer words in both directions.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import type { Page, Route } from 'playwright-core'

import { findViolations, openAxe } from './axe.ts'
import { startBrowser, type WebBrowser } from './browser.ts'
import { inPage } from './in-page.ts'
import { PASSWORD } from './simulated-cell/callers.ts'
import { APP_CODE, RECOVERY_CODE } from './simulated-cell/second-factors.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'
import { startVisits } from './visits.ts'

let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell({})
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

async function typePassword(page: Page, user: string): Promise<void> {
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

async function enterCode(page: Page, code = APP_CODE): Promise<void> {
  await page.getByLabel('Code of the second factor').fill(code)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

/** What axe finds, and what cannot be read with longer words in both directions. */
async function problemsOf(page: Page): Promise<string[]> {
  const session = await openAxe(page)
  const found = await findViolations(session)
  for (const direction of ['ltr', 'rtl'] as const) {
    await page.evaluate(`document.documentElement.dir = '${direction}'`)
    await page.evaluate('probe.settled()')
    if (direction === 'ltr') await page.evaluate('readability.lengthenWords()')
    const unreadable = await page.evaluate<string[]>('readability.findUnreadable()')
    found.push(...unreadable.map((text) => `${direction} ${text}`))
  }
  return found
}

test('the login asks for the code in place: user and password stay, also after a wrong one', async () => {
  const page = await browser.open({ user: '', path: '/login?to=/settings' })
  await typePassword(page, 'frida@eng')
  const code = page.getByLabel('Code of the second factor')
  await code.waitFor()
  assert.equal(await page.getByRole('alert').count(), 0, 'a question is no error')
  assert.equal(await page.evaluate('document.activeElement.name'), 'one-time-code')
  assert.deepEqual(
    [await code.getAttribute('autocomplete'), await code.getAttribute('inputmode')],
    ['one-time-code', 'numeric'],
  )
  await enterCode(page, '000000')
  await page.getByRole('alert').getByText('the user or the password is wrong').waitFor()
  assert.equal(await page.getByLabel('User').inputValue(), 'frida@eng')
  assert.equal(await page.getByLabel('Password').inputValue(), PASSWORD)
  assert.equal(await code.inputValue(), '')
  await enterCode(page)
  await page.getByRole('heading', { name: 'Second factor' }).waitFor()
  await page.context().close()
})

test('a recovery code logs in, and another user is asked for the password only', async () => {
  const page = await browser.open({ user: '', path: '/login' })
  await typePassword(page, 'frida@eng')
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  const code = page.getByLabel('Recovery code')
  assert.equal(await code.getAttribute('inputmode'), 'text')
  await code.fill(RECOVERY_CODE)
  await page.getByLabel('User').fill('bob@eng')
  await code.waitFor({ state: 'detached' })
  await page.getByLabel('User').fill('frida@eng')
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await code.fill(RECOVERY_CODE)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
  await page.waitForURL('**/ui/vms**')
  await page.context().close()
})

test('a request from before the login that is refused after it ends no session', async () => {
  const page = await browser.open({ user: '', path: '/login?to=/settings' })
  const held = Promise.withResolvers<Route>()
  await page.route('**/login/servers?*', (route) => held.resolve(route), { times: 1 })
  await typePassword(page, 'frida@eng')
  const early = await held.promise
  const loggedIn = page.waitForResponse((response) => response.status() === 200)
  await enterCode(page)
  await (await loggedIn).finished()
  await early.fulfill({ status: 401 })
  await page.getByRole('row', { name: /^phone Confirmed/ }).waitFor()
  await page.context().close()
})

test('a session that ended asks for the code in its dialog', async () => {
  const page = await browser.open({ user: '', path: '/login?to=/settings' })
  await typePassword(page, 'frida@eng')
  await enterCode(page)
  await page.getByRole('row', { name: /^phone Confirmed/ }).waitFor()
  await page.getByRole('button', { name: 'Add second factor' }).click()
  await page.getByLabel('Name').fill('x')
  await page.getByLabel('Code of the second factor').fill(APP_CODE)
  // The event stream ends with the session, and the page shows its dialog without a click.
  cell.endSessions()
  const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
  await dialog.getByLabel('Password').fill(PASSWORD)
  await dialog.getByRole('button', { name: 'Log in', exact: true }).click()
  await dialog.getByLabel('Code of the second factor').fill(APP_CODE)
  await dialog.getByRole('button', { name: 'Log in', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await page.getByLabel('Name').inputValue(), 'x', 'what was typed stays')
  await page.context().close()
})

test('a second factor is added by its QR code, its recovery codes are shown once, and it is removed with a code', async () => {
  const page = await browser.open({ user: 'bob@eng', path: '/settings' })
  await page.getByRole('button', { name: 'Add second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('phone')
  await dialog.getByText('skerry second-factor add phone').waitFor()
  await dialog.getByRole('button', { name: 'Next' }).click()
  await dialog.getByRole('img', { name: 'QR code of phone' }).waitFor()
  await dialog.getByText('JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP').waitFor()
  const code = dialog.getByLabel('Code that the app shows')
  await code.fill('000000')
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await page.getByText('phone was not confirmed').first().waitFor()
  await code.fill(APP_CODE)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  const codes = page.getByRole('dialog', { name: 'Recovery codes' })
  const shown = (await codes.locator('code').textContent()) ?? ''
  assert.equal(shown.split('\n').length, 10)
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  // The button says so for a moment only: recorded in the page.
  await page.evaluate(`window.isCopied = false
    new MutationObserver(() => (window.isCopied ||= document.querySelector('[aria-label=Copied]') !== null))
      .observe(document.body, { subtree: true, childList: true, attributes: true })`)
  await codes.getByRole('button', { name: 'Copy' }).click()
  await until('it says that they are copied', () => page.evaluate<boolean>('window.isCopied'))
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), shown)
  await codes.getByRole('button', { name: 'I have kept them' }).click()
  const row = page.getByRole('row', { name: /^phone Confirmed/ })
  await row.waitFor()
  assert.equal(await page.getByText(shown.split('\n')[0] ?? '').count(), 0)

  await page.getByText('Recovery codes left: 9').waitFor()
  await page.getByRole('button', { name: 'New recovery codes' }).click()
  await dialog.getByText('skerry second-factor recovery-codes').waitFor()
  await dialog.getByLabel('Code of the second factor').fill(APP_CODE)
  await dialog.getByRole('button', { name: 'Make new codes' }).click()
  await codes.getByRole('button', { name: 'I have kept them' }).click()

  await row.getByRole('button', { name: 'Remove' }).click()
  await dialog.getByText('skerry second-factor rm phone').waitFor()
  await dialog.getByLabel('Code of the second factor').fill('000000')
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('phone was not removed').first().waitFor()
  await dialog.getByLabel('Code of the second factor').fill(APP_CODE)
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await row.waitFor({ state: 'detached' })
  await page.context().close()
})

test('an organisation that requires a second factor leads its users to it, and lets them in then', async () => {
  const page = await browser.open({ user: '', path: '/login' })
  await typePassword(page, 'ines@eng')
  await page.waitForURL('**/ui/second-factor')
  await page.getByText('The organisation eng requires a second factor').waitFor()
  await page.goto(`${cell.url}/ui/vms`)
  await page.waitForURL('**/ui/second-factor')
  await page.getByRole('button', { name: 'Add second factor' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('phone')
  await dialog.getByRole('button', { name: 'Next' }).click()
  await dialog.getByLabel('Code that the app shows').fill(APP_CODE)
  await dialog.getByRole('button', { name: 'Confirm' }).click()
  await dialog.getByRole('button', { name: 'I have kept them' }).click()
  await page.getByRole('navigation').first().waitFor()
  assert.equal(new URL(page.url()).pathname, '/ui/')
  await page.context().close()
})

test('an administrator removes the second factors of a user, and requires them from an organisation', async () => {
  const page = await browser.open({ user: 'root@System', path: '/org' })
  const rule = page.getByLabel(/^Users with a password need a second factor/)
  await page.getByText('skerry org set eng --require-second-factor yes').waitFor()
  // Rows of users arrive one by one, above it.
  await rule.press('Space')
  await page.getByText('skerry org set eng --require-second-factor no').waitFor()
  assert.ok(await rule.isChecked())
  await page.getByRole('button', { name: 'Actions of frida' }).press('Enter')
  await page.getByRole('menuitem', { name: 'Remove second factors' }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText('skerry user set frida@eng --remove-second-factors').waitFor()
  await dialog.getByRole('button', { name: 'Remove' }).click()
  await page.getByText('Removed the second factors of frida').waitFor()
  await page.context().close()

  const other = await browser.open({ user: '', path: '/login' })
  await typePassword(other, 'frida@eng')
  await other.waitForURL('**/ui/vms**')
  await other.context().close()
})

for (const width of [1440, 390]) {
  test(`the dialogs are read by everyone, with longer words, from right to left, at ${width} pixels`, async () => {
    await using visitor = await startVisits(browser, cell.url, {
      user: width === 390 ? 'bob@eng' : 'carol@eng',
      width,
    })
    const { page } = visitor
    await visitor.visit('/settings')
    await page.evaluate(inPage('readability'))
    await page.getByRole('button', { name: 'Add second factor' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(`phone-${width}`)
    const found = await problemsOf(page)
    await dialog.locator('button[type=submit]').click()
    await dialog.getByRole('img').waitFor()
    found.push(...(await problemsOf(page)))
    await dialog.getByRole('textbox').fill(APP_CODE)
    await dialog.locator('button[type=submit]').click()
    await dialog.locator('code', { hasText: 'bcd-' }).waitFor()
    found.push(...(await problemsOf(page)))
    assert.deepEqual(found, [])
  })
}

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
