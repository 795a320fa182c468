// Goal: users log in with a passkey in their browser, as the guide says. Method: a cell in its own process with TLS and the web UI, a real
// PostgreSQL, and the authenticator that Chromium has for tests.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'
import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'
import type { CDPSession, Page } from 'playwright-core'

import type { Profile } from '../../apps/cli/src/profiles/profiles.ts'
import { keptProfiles, skerry } from '../../apps/cli/test/terminal.ts'
import { PASSWORD, startLoneCell, type LoneCell } from '../attack/lone-cell.ts'
import { startBrowser, type WebBrowser } from '../web/browser.ts'
import { NOWHERE } from './identity/device-login.ts'

const skip = reasonToSkip('cloud', 'identity') ?? false

let cell: LoneCell
let browser: WebBrowser
let org: OrgId
let url: string
let ruler: Profile
const stack = new AsyncDisposableStack()
before(async () => {
  if (skip !== false) return
  cell = stack.use(await startLoneCell('localhost'))
  url = `https://localhost:${cell.port}`
  browser = stack.use(await startBrowser({ url, isUntrusted: true, password: PASSWORD }))
  org = await cell.addOrg('blue')
  for (const name of ['anna', 'bert', 'carl']) await cell.addUser(org, name, 'author')
  const token = await cell.enter(await cell.addOrg('System'), 'system administrator')
  ruler = { url: `https://127.0.0.1:${cell.port}`, user: 'ruler@System', token, ca: cell.ca }
})
after(() => stack.disposeAsync())

interface Device {
  readonly cdp: CDPSession
  readonly id: string
}

/** A device that keeps passkeys, and whose user types the right PIN. */
async function plugIn(page: Page): Promise<Device> {
  const cdp = await page.context().newCDPSession(page)
  await cdp.send('WebAuthn.enable')
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  return { cdp, id }
}

const kept = async ({ cdp, id }: Device) =>
  (await cdp.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials

async function logInByPassword(page: Page, user: string): Promise<void> {
  await page.getByLabel('User').fill(user)
  await page.getByLabel('Password').fill(PASSWORD)
  await page.getByRole('button', { name: 'Log in', exact: true }).click()
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Add passkey' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByRole('button', { name: 'Add passkey' }).click()
}

const logInByPasskey = (page: Page) =>
  page.getByRole('button', { name: 'Log in with a passkey' }).click()

/** Whose page it is. */
const userOf = (page: Page) =>
  page.evaluate<string>(
    `fetch('/ui/config.json').then((r) => r.json()).then((c) => c.session?.user)`,
  )

async function logOut(page: Page): Promise<void> {
  await page.context().clearCookies({ name: '__Host-cloud-token' })
  await page.goto(`${url}/ui/login?to=/settings`)
}

suite('a passkey', { skip }, () => {
  let page: Page
  let device: Device
  before(async () => {
    if (skip !== false) return
    page = await browser.open({ user: '', path: '/login?to=/settings' })
    device = await plugIn(page)
  })

  test('is added in the settings, shows the recovery codes once, and logs in alone', async () => {
    await logInByPassword(page, 'anna@blue')
    await addPasskey(page, 'laptop')
    const codes = page.getByRole('dialog', { name: 'Recovery codes' })
    assert.equal(((await codes.locator('code').textContent()) ?? '').split('\n').length, 10)
    await codes.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByRole('row', { name: /^laptop Confirmed Passkey/ }).waitFor()
    const [credential, ...others] = await kept(device)
    assert.deepEqual(others, [])
    assert.deepEqual([credential?.rpId, credential?.isResidentCredential], ['localhost', true])
    await logOut(page)
    await logInByPasskey(page)
    await page.getByRole('row', { name: /^laptop Confirmed Passkey/ }).waitFor()
    assert.equal(await userOf(page), 'anna')
    await logOut(page)
    await logInByPassword(page, 'anna@blue')
    await page.getByLabel('Code of the second factor').waitFor()
    await logInByPasskey(page)
    await page.getByRole('row', { name: /^laptop Confirmed Passkey/ }).waitFor()
  })

  test('proves its user where a code is asked for, is not made twice on a device, and is removed', async () => {
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add passkey' }).click()
    await dialog.getByLabel('Name').fill('again')
    await dialog.getByRole('button', { name: 'Prove with your passkey' }).click()
    await dialog.getByText('Your passkey has proved you.').waitFor()
    await dialog.getByRole('button', { name: 'Add passkey' }).click()
    await page.getByText('This device has a passkey of yours already').first().waitFor()
    assert.equal((await kept(device)).length, 1)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New recovery codes' }).click()
    await dialog.getByRole('button', { name: 'Prove with your passkey' }).click()
    await dialog.getByRole('button', { name: 'Make new codes' }).click()
    await dialog.getByRole('button', { name: 'I have kept them' }).click()
    const row = page.getByRole('row', { name: /^laptop Confirmed Passkey/ })
    await row.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Prove with your passkey' }).click()
    await dialog.getByText('Your passkey has proved you.').waitFor()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await row.waitFor({ state: 'detached' })
    await logOut(page)
    await logInByPasskey(page)
    await page.getByRole('alert').getByText('this passkey does not log in here').waitFor()
    await logInByPassword(page, 'anna@blue')
    await page.getByText('None. With a second factor').waitFor()
  })

  test('satisfies the rule of an organisation, is listed by skerry, and an administrator removes it', async () => {
    const { cdp, id } = device
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId: id })
    await sql`update org set second_factor_required = true where id = ${org}`.execute(cell.db)
    await logOut(page)
    await logInByPassword(page, 'bert@blue')
    await page.waitForURL('**/ui/second-factor')
    await addPasskey(page, 'phone')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.waitForURL('**/ui/')
    await logOut(page)
    await logInByPasskey(page)
    await page.getByRole('row', { name: /^phone Confirmed Passkey/ }).waitFor()
    const token = (await page.context().cookies()).find(({ name }) => name === '__Host-cloud-token')
    const own: Profile = { ...ruler, user: 'bert@blue', token: token?.value ?? '' }
    const run = (profile: Profile, ...words: readonly string[]) =>
      skerry(NOWHERE, words, {
        profiles: keptProfiles({ active: 'work', clouds: { work: profile } }),
      })
    const listed = await run(own, 'second-factor', 'list')
    assert.match(listed.out, /phone +PASSKEY +confirmed/, listed.err)
    const done = await run(ruler, 'user', 'set', 'bert@blue', '--remove-second-factors')
    assert.equal(done.code, 0, done.err)
    await logOut(page)
    await logInByPasskey(page)
    await page.getByRole('alert').getByText('this passkey does not log in here').waitFor()
    await sql`update org set second_factor_required = false where id = ${org}`.execute(cell.db)
  })

  test('a copy of it is noticed by its counter, and who presses Cancel can go on with the password', async () => {
    const { cdp, id } = device
    await cdp.send('WebAuthn.clearCredentials', { authenticatorId: id })
    await logInByPassword(page, 'carl@blue')
    await addPasskey(page, 'key')
    await page.getByRole('button', { name: 'I have kept them' }).click()
    await page.getByRole('row', { name: /^key Confirmed/ }).waitFor()
    await sql`update second_factor set counter = 1000 where name = 'key'`.execute(cell.db)
    await logOut(page)
    await logInByPasskey(page)
    await page.getByRole('alert').getByText('this passkey does not log in here').waitFor()
    const { rows } = await sql<{ details: object }>`select details from event
      where kind = 'session.refused' and details ->> 'by' = 'carl'`.execute(cell.db)
    assert.deepEqual(
      rows.map(({ details }) => details),
      [{ by: 'carl', from: '127.0.0.1', passkey: 'key', why: 'counter' }],
    )
    await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified: false })
    await logInByPasskey(page)
    await page.getByRole('alert').getByText('No passkey was used').waitFor()
    await page.getByLabel('Password').fill('still here')
  })

  test('no page violates its policy or throws an error', () => {
    assert.deepEqual(browser.problems, [])
  })
})
