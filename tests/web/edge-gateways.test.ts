// Goal: a user publishes ports, changes rules and sees who reaches whom in the web UI; administrators of the cloud manage external
// networks. Method: Chromium against a simulated cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startBrowser, type WebBrowser } from './browser.ts'
import { changeBehindThePage } from './simulated-cell/edge-gateways.ts'
import { factsOf, KIND, uuidOf } from './simulated-cell/inventory.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const GATEWAY = `/edge-gateways/${uuidOf(KIND.gateway, 1)}`
/** On the network web, which is routed. */
const PUBLISHED_VM = 12_002

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

test('a port of a VM is published: forward and firewall rule in one change, and its address is shown', async () => {
  const page = await browser.open({ path: `/vms/vm-${uuidOf(KIND.vm, PUBLISHED_VM)}?tab=networks` })
  await page.getByRole('button', { name: 'Actions of card 0' }).click()
  await page.getByRole('menuitem', { name: 'Publish a port…' }).click()
  const dialog = page.getByRole('dialog')
  // Shown once the edge gateway is loaded: the dialog grows.
  await dialog.getByText(/skerry publish/).waitFor()
  await dialog.getByLabel('Port outside').fill('8080')
  await dialog.getByLabel('Port of the VM').fill('80')
  const sent = page.waitForRequest((request) => request.url().endsWith('configureServices'))
  await dialog.getByRole('button', { name: 'Publish' }).click()
  const body = (await sent).postDataJSON() as Record<string, unknown>
  assert.deepEqual(Object.keys(body).toSorted(), ['firewallService', 'natService', 'version'])
  await page.getByText('203.0.113.10:8080', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.goto(`${cell.url}/ui${GATEWAY}`)
  const rules = page.getByRole('region', { name: 'Published ports and addresses' })
  await rules.getByText('tcp 203.0.113.10:8080 → 10.20.0.4:80').waitFor()
  await rules.getByText(factsOf(PUBLISHED_VM).name).waitFor()
  await page.context().close()
})

test('a published port is unpublished: forward and firewall rule in one change', async () => {
  const page = await browser.open({ path: `/vms/vm-${uuidOf(KIND.vm, PUBLISHED_VM)}?tab=networks` })
  await page.getByRole('button', { name: 'Actions of card 0' }).click()
  await page.getByRole('menuitem', { name: 'Publish a port…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText(/skerry publish/).waitFor()
  await dialog.getByLabel('Port outside').fill('9090')
  await dialog.getByRole('button', { name: 'Publish' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.goto(`${cell.url}/ui${GATEWAY}?tab=firewall`)
  const firewall = page.getByRole('region', { name: 'Firewall rules' })
  await firewall.getByText('203.0.113.10:9090').waitFor()
  await page.getByRole('tab', { name: /Published ports/ }).click()
  const rule = 'tcp 203.0.113.10:9090 → 10.20.0.4:9090'
  await page.getByRole('button', { name: `Actions of ${rule}` }).click()
  const sent = page.waitForRequest((request) => request.url().endsWith('configureServices'))
  await page.getByRole('menuitem', { name: 'Unpublish' }).click()
  const body = (await sent).postDataJSON() as Record<string, unknown>
  assert.deepEqual(Object.keys(body).toSorted(), ['firewallService', 'natService', 'version'])
  const rules = page.getByRole('region', { name: 'Published ports and addresses' })
  await rules.getByText(rule).waitFor({ state: 'detached' })
  await page.getByRole('tab', { name: /Firewall/ }).click()
  await firewall.getByRole('row').nth(1).waitFor()
  await firewall.getByText('203.0.113.10:9090').waitFor({ state: 'detached' })
  await page.context().close()
})

test('firewall rules are added first, moved, disabled and removed', async () => {
  const page = await browser.open({ path: `${GATEWAY}?tab=firewall` })
  const table = page.getByRole('region', { name: 'Firewall rules' })
  const rows = table.getByRole('row')
  await page.getByRole('button', { name: 'Add rule' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Policy').selectOption('drop')
  await dialog.getByLabel('Source').fill('198.51.100.0/24')
  await dialog.getByLabel('Destination', { exact: true }).fill('Any')
  await dialog.getByLabel('Protocol').selectOption('any')
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  await rows.nth(1).getByText('198.51.100.0/24').waitFor()
  await page.getByRole('button', { name: 'Actions of rule 1', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Move down' }).click()
  await rows.nth(2).getByText('198.51.100.0/24').waitFor()
  await page.getByRole('button', { name: 'Actions of rule 2', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await rows.nth(2).getByText('Disabled').waitFor()
  await page.getByRole('button', { name: 'Actions of rule 2', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  // Messages about the rule stay for a while.
  await table.getByText('198.51.100.0/24').waitFor({ state: 'detached' })
  await page.context().close()
})

test('a change of someone else is shown, and the own change is applied again', async () => {
  const page = await browser.open({ path: `${GATEWAY}?tab=routes` })
  await page.getByRole('button', { name: 'Add route' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Network').fill('10.99.0.0/16')
  await dialog.getByLabel('Router').fill('203.0.113.8')
  changeBehindThePage()
  await dialog.getByRole('button', { name: 'Add route' }).click()
  const conflict = page.getByRole('dialog', { name: /was changed meanwhile/ })
  await conflict.getByText(/allow in tcp: any → 203\.0\.113\.10 port 22/).waitFor()
  await conflict.getByRole('button', { name: 'Apply again' }).click()
  await page.getByRole('region', { name: 'Static routes' }).getByText('10.99.0.0/16').waitFor()
  await page.getByRole('tab', { name: /Firewall/ }).click()
  await page
    .getByRole('region', { name: 'Firewall rules' })
    .getByText('203.0.113.10:22', { exact: true })
    .waitFor()
  await page.context().close()
})

test('an external address is taken and released; one in a rule is not', async () => {
  const page = await browser.open({ path: `${GATEWAY}?tab=addresses` })
  const table = page.getByRole('region', { name: 'External addresses' })
  const used = table.getByRole('row', { name: /203\.0\.113\.21/ })
  const release = used.getByRole('button', { name: 'Release' })
  assert.match((await release.getAttribute('aria-description')) ?? '', /a rule uses it/)
  await page.getByRole('button', { name: 'Take an address' }).click()
  const taken = table.getByRole('row', { name: /203\.0\.113\.23/ })
  await taken.getByRole('button', { name: 'Release' }).click()
  await taken.waitFor({ state: 'detached' })
  await page.context().close()
})

test('a button that waits for its change keeps the focus', async () => {
  const page = await browser.open({ path: `${GATEWAY}?tab=addresses` })
  const rows = page.getByRole('region', { name: 'External addresses' }).getByRole('row')
  await rows.nth(1).waitFor()
  const before = await rows.count()
  const take = page.getByRole('button', { name: 'Take an address', disabled: false })
  await take.waitFor()
  await take.focus()
  await page.keyboard.press('Enter')
  await rows.nth(before).waitFor()
  await take.and(page.locator(':focus')).waitFor()
  await page.context().close()
})

test('the drawing of who reaches whom and its table say the same', async () => {
  const page = await browser.open({ path: '/reach?vdc=main' })
  const drawing = page.getByRole('img', { name: /^Who reaches whom in main/ })
  await drawing.locator('text', { hasText: '203.0.113.10:443 → 10.20.0.2:8443' }).waitFor()
  const table = page.getByRole('region', { name: 'Who reaches whom' })
  await table.getByRole('row', { name: /Outside 10\.20\.0\.2:8443 .* Passes/ }).waitFor()
  await table.getByRole('row', { name: /Outside all else of default, web .* Dropped/ }).waitFor()
  await table.getByRole('row', { name: /^backend Outside no edge gateway Dropped/ }).waitFor()
  await page.context().close()
})

test('an administrator of the cloud creates an external network, makes it the default, and deletes it', async () => {
  const page = await browser.open({ user: 'root@System', path: '/admin/external-networks' })
  const table = page.getByRole('region', { name: 'External networks' })
  await table.getByRole('row', { name: /^office \(default\)/ }).waitFor()
  await page.getByRole('button', { name: 'Create external network' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('internet')
  await dialog.getByLabel('Uplink').fill('wan')
  await dialog.getByLabel('Range').fill('198.51.100.0/24')
  const create = dialog.getByRole('button', { name: 'Create' })
  assert.match((await create.getAttribute('aria-description')) ?? '', /the pool must name/)
  await dialog.getByLabel('Pool').fill('198.51.100.10-198.51.100.50')
  await create.click()
  await table.getByRole('row', { name: /^internet/ }).waitFor()
  await page.getByRole('button', { name: 'Actions of internet' }).click()
  await page.getByRole('menuitem', { name: 'Make it the default' }).click()
  await table.getByRole('row', { name: /^internet \(default\)/ }).waitFor()
  await page.getByRole('button', { name: 'Actions of internet' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await table.getByRole('row', { name: /^internet/ }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('a user who may not change rules sees them, and why', async () => {
  const page = await browser.open({ user: 'bob@eng', path: `${GATEWAY}?tab=firewall` })
  const add = page.getByRole('button', { name: 'Add rule' })
  await add.waitFor()
  assert.match((await add.getAttribute('aria-description')) ?? '', /network:edit/)
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
