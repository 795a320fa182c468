// Goal: a vApp and a catalog are shared with users, groups and everyone, and a user who sees only what is shared with them can work with
// it, without the events of the organisation. Method: Chromium against a simulated cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Page } from 'playwright-core'

import { startBrowser, type WebBrowser } from './browser.ts'
import { KIND, uuidOf } from './simulated-cell/inventory.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell({ speed: 20 })
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

const sharingOf = (vapp: number): string => `/vapps/vapp-${uuidOf(KIND.vapp, vapp)}?tab=sharing`
const sharedWith = (page: Page) => page.getByRole('region', { name: 'Shared with' })
const rowOf = (page: Page, name: RegExp) => sharedWith(page).getByRole('row', { name })

async function choose(page: Page, name: string, item: string): Promise<void> {
  await page.getByRole('button', { name: `Actions of ${name}` }).click()
  await page.getByRole('menuitem', { name: item }).click()
}

test('a vApp is shared with a user who is chosen by name, the level is changed, and the share is removed', async () => {
  const page = await browser.open({ path: sharingOf(0) })
  await rowOf(page, /^gina User Change/).waitFor()
  await rowOf(page, /^testers Group of corp Read only/).waitFor()
  await page.getByText('skerry access list api-dev', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Share…' }).click()
  const dialog = page.getByRole('dialog')
  const user = dialog.getByRole('combobox', { name: 'User' })
  await user.fill('bo')
  await page.getByRole('option', { name: 'bob' }).click()
  await dialog.getByText('skerry access set api-dev --user bob --level read-only').waitFor()
  await dialog.getByRole('button', { name: 'Share', exact: true }).click()
  await page.getByText('api-dev is shared with bob').waitFor()
  await rowOf(page, /^bob User Read only/).waitFor()
  await rowOf(page, /^gina User Change/).waitFor()

  await choose(page, 'bob', 'Change access')
  await dialog.getByRole('radio', { name: /^Full control/ }).check()
  await dialog.getByText('skerry access set api-dev --user bob --level full-control').waitFor()
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await rowOf(page, /^bob User Full control/).waitFor()

  await choose(page, 'bob', 'Remove')
  const question = page.getByRole('alertdialog')
  await question.getByText('skerry access rm api-dev --user bob').waitFor()
  await question.getByRole('button', { name: 'Remove' }).click()
  await rowOf(page, /^bob/).waitFor({ state: 'detached' })
  await rowOf(page, /^testers/).waitFor()
  await page.context().close()
})

test('a catalog is shared with a group of an identity server and with everyone; an unknown user is refused with the reason', async () => {
  const page = await browser.open({ path: '/templates' })
  await page.getByRole('link', { name: 'golden', exact: true }).click()
  await page.getByRole('link', { name: 'debian-13' }).waitFor()
  await page.getByRole('tab', { name: 'Sharing' }).click()
  const share = page.getByRole('button', { name: 'Share…' })
  const dialog = page.getByRole('dialog')
  const send = dialog.getByRole('button', { name: 'Share', exact: true })
  await share.click()
  await dialog.getByRole('radio', { name: /^Group/ }).check()
  await dialog.getByRole('combobox', { name: 'Identity server' }).selectOption('partners')
  await dialog.getByRole('combobox', { name: 'Group' }).click()
  await page.getByRole('option', { name: 'auditors' }).click()
  await send.click()
  await rowOf(page, /^auditors Group of partners Read only See it and its templates/).waitFor()

  await share.click()
  await dialog.getByRole('radio', { name: /^Everyone/ }).check()
  await dialog.getByRole('radio', { name: /^Change/ }).check()
  await send.click()
  await rowOf(page, /^Everyone All users of the organisation Change/).waitFor()

  await share.click()
  await dialog.getByRole('combobox', { name: 'User' }).fill('no-such-user')
  await send.click()
  await page.getByRole('alert').getByText('no-such-user does not exist here').waitFor()
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  assert.equal(await sharedWith(page).getByRole('row').count(), 4)
  await page.context().close()
})

test('two users who share at the same time keep the shares of each other', async () => {
  const [one, other] = [
    await browser.open({ path: sharingOf(6) }),
    await browser.open({ path: sharingOf(6) }),
  ]
  for (const [page, name] of [
    [one, 'bob'],
    [other, 'carol'],
  ] as const) {
    await page.getByText('The vApp is not shared.').waitFor()
    await page.getByRole('button', { name: 'Share…' }).click()
    await page.getByRole('combobox', { name: 'User' }).fill(name)
  }
  for (const page of [one, other]) {
    await page.getByRole('button', { name: 'Share', exact: true }).click()
    // A message about the result is a dialog, too.
    await page.getByRole('combobox', { name: 'User' }).waitFor({ state: 'detached' })
  }
  await rowOf(other, /^bob/).waitFor()
  await rowOf(other, /^carol/).waitFor()
  await one.context().close()
  await other.context().close()
})

test('who may not share sees the list and the reason', async () => {
  const page = await browser.open({ user: 'bob@eng', path: sharingOf(0) })
  await rowOf(page, /^gina/).waitFor()
  const share = page.getByRole('button', { name: 'Share…' })
  assert.match((await share.getAttribute('aria-description')) ?? '', /sharing it needs the level/)
  await page.getByRole('button', { name: 'Actions of gina' }).click()
  await page
    .getByRole('menuitem', { name: 'Remove' })
    .and(page.locator('[aria-disabled=true]'))
    .waitFor()
  await page.context().close()
})

test('a user who sees only what is shared with them is led to nothing else, and nothing is lost without events', async () => {
  const page = await browser.open({ user: 'gina@eng', path: '/vapps' })
  await page.getByRole('link', { name: 'api-dev' }).waitFor()
  await page.getByRole('link', { name: 'api-stage' }).waitFor()
  await page.getByRole('heading', { name: 'vApps 2' }).waitFor()
  await page.getByRole('status').getByText('Every 15 s').waitFor()
  assert.equal(await page.getByText('tries to reconnect').count(), 0)
  const nav = page.getByRole('navigation', { name: 'Main' })
  for (const name of ['Virtual machines', 'vApps', 'Templates', 'Tasks'])
    await nav.getByRole('link', { name }).waitFor()
  for (const name of ['Networks', 'Security groups', 'Events', 'Users and quota'])
    assert.equal(await nav.getByRole('link', { name }).count(), 0, name)

  await nav.getByRole('link', { name: 'Templates' }).click()
  await page.getByRole('link', { name: 'debian-13' }).waitFor()
  assert.equal(await page.getByRole('link', { name: 'debian-12' }).count(), 0)
  await page.getByRole('button', { name: 'Upload template' }).click()
  await page.getByRole('dialog').getByLabel('Disk image').waitFor()
  await page.keyboard.press('Escape')

  // What is shared from now on is listed when the page is looked at again.
  await nav.getByRole('link', { name: 'vApps' }).click()
  await page.getByRole('heading', { name: 'vApps 2' }).waitFor()
  const owner = await browser.open({ path: sharingOf(9) })
  await owner.getByRole('button', { name: 'Share…' }).click()
  await owner.getByRole('combobox', { name: 'User' }).fill('gina')
  await owner.getByRole('button', { name: 'Share', exact: true }).click()
  await rowOf(owner, /^gina/).waitFor()
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
  await page.getByRole('heading', { name: 'vApps 3' }).waitFor()
  await owner.context().close()
  await page.context().close()
})

test('without events, a VM that a share allows to start is shown as running when its task has ended', async () => {
  const page = await browser.open({ user: 'gina@eng', path: '/vms?q=vapp:api-dev&status=off' })
  const name =
    (await page
      .getByRole('link', { name: /^api-dev-/ })
      .first()
      .textContent()) ?? ''
  await page.getByRole('link', { name }).click()
  await page.getByRole('button', { name: 'Start', exact: true }).click()
  await page
    .getByRole('button', { name: 'Shut down', exact: true })
    .and(page.locator(':not([aria-disabled])'))
    .waitFor()
  await page.goto(`${cell.url}/ui/vms?q=vapp:api-stage`)
  await page
    .getByRole('link', { name: /^api-stage-/ })
    .first()
    .click()
  const start = page.getByRole('button', { name: 'Start', exact: true })
  assert.match((await start.getAttribute('aria-description')) ?? '', /lacks the right vm:power/)
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
