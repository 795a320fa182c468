// Goal: a user sees and changes networks and the cards of VMs in the web UI. Method: Chromium against a simulated cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startBrowser, type WebBrowser } from './browser.ts'
import { factsOf, KIND, ORG_VMS, statusOf, uuidOf } from './simulated-cell/inventory.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

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

const stoppedVm = (): number => {
  for (let n = 0; n < ORG_VMS; n++) if (statusOf(n) === 'POWERED_OFF') return n
  throw new Error('no VM is off')
}

test('a network is created, changed and deleted', async () => {
  const page = await browser.open({ path: '/networks' })
  await page.getByRole('link', { name: 'backend' }).waitFor()
  await page.getByRole('button', { name: 'Create network' }).click()
  await page.getByLabel('Name', { exact: true }).fill('stage')
  await page.getByRole('radio', { name: /^Routed/ }).check()
  await page.getByLabel('Range').fill('10.30.0.0/24')
  await page.getByText(/skerry network create stage --range 10.30.0.0\/24 --routed/).waitFor()
  // Shown once the data centre is loaded: its field moves the button.
  await page.getByText('curl -X POST').waitFor()
  await page.getByRole('button', { name: 'Create network' }).click()
  await page.getByRole('heading', { name: 'stage', exact: true }).waitFor()
  await page.getByText('No VM is on this network.').waitFor()
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  await page.getByLabel('Name servers').fill('nine')
  const save = page.getByRole('button', { name: 'Save changes' })
  assert.match((await save.getAttribute('aria-description')) ?? '', /name servers must be/)
  await page.getByLabel('Name servers').fill('1.1.1.1')
  await save.click()
  await page.getByRole('definition').filter({ hasText: '1.1.1.1' }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/ui/networks')
  await page.getByRole('link', { name: 'backend' }).waitFor()
  await page.getByRole('link', { name: 'stage' }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('the page of another network shows nothing of the one before', async () => {
  const page = await browser.open({ path: `/networks/${uuidOf(KIND.network, 1)}` })
  await page.getByRole('heading', { name: 'web' }).waitFor()
  const [other, reading] = [uuidOf(KIND.network, 2), Promise.withResolvers<void>()]
  await page.route(`**/network/${other}`, async (route) => {
    await reading.promise
    await route.continue()
  })
  await page.evaluate(`history.pushState(null, '', '/ui/networks/${other}')
    dispatchEvent(new PopStateEvent('popstate'))`)
  await page.getByRole('heading', { name: 'web' }).waitFor({ state: 'detached' })
  reading.resolve()
  await page.getByRole('heading', { name: 'backend' }).waitFor()
  await page.context().close()
})

test('a network with VMs is not deleted, says why, and finds a VM by its address', async () => {
  const page = await browser.open({ path: `/networks/${uuidOf(KIND.network, 1)}` })
  await page.getByRole('heading', { name: 'web' }).waitFor()
  await page.getByLabel('Filter').fill('10.20.0.4')
  const addresses = page.getByRole('region', { name: 'Addresses in use' })
  await addresses.getByRole('row').nth(2).waitFor({ state: 'detached' })
  await addresses.getByRole('link', { name: factsOf(12_002).name }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('alert')
    .getByText(/is on network web/)
    .waitFor()
  await page.context().close()
})

test('IPv6 of a routed network is wanted at its creation or switched while no VM is on it, and cards show their addresses', async () => {
  const page = await browser.open({ path: '/networks/new' })
  await page.getByLabel('Name', { exact: true }).fill('six')
  await page.getByRole('radio', { name: /^Routed/ }).check()
  await page.getByLabel('Range').fill('10.60.0.0/24')
  await page.getByLabel(/^Its VMs have IPv6 addresses too/).check()
  await page.getByText(/skerry network create six .* --routed --ipv6/).waitFor()
  // Shown once the data centre is loaded: its field moves the button.
  await page.getByText('curl -X POST').waitFor()
  await page.getByRole('button', { name: 'Create network' }).click()
  const prefix = page.getByRole('definition').filter({ hasText: /^fd[0-9a-f:]+::\/64$/ })
  await prefix.waitFor()
  const first = await prefix.textContent()
  const dialog = page.getByRole('alertdialog')
  await page.getByRole('button', { name: 'Switch off IPv6' }).click()
  await dialog.getByText('skerry network set').waitFor()
  await dialog.getByRole('button', { name: 'curl' }).click()
  await dialog.getByText(/curl -X PUT .*"isIpv6Enabled":false/).waitFor()
  await dialog.getByRole('button', { name: 'Switch off' }).click()
  await prefix.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Switch on IPv6' }).click()
  await dialog.getByRole('button', { name: 'Switch on' }).click()
  await prefix.waitFor()
  assert.notEqual(await prefix.textContent(), first)

  const reasons = [
    [1, 'Switch off IPv6', /while no VM is on the network/],
    [2, 'Switch on IPv6', /only a routed network/],
  ] as const
  for (const [n, name, reason] of reasons) {
    await page.goto(`${cell.url}/ui/networks/${uuidOf(KIND.network, n)}`)
    await page.getByRole('button', { name, description: reason }).waitFor()
  }
  await page.goto(`${cell.url}/ui/vms/vm-${uuidOf(KIND.vm, 12_000)}?tab=networks`)
  const table = page.getByRole('region', { name: 'Network cards' })
  await table.getByRole('row', { name: /web 10\.20\.0\.2 fd12:3456:789a:1:5054:ff:fe/ }).waitFor()
  await page.context().close()
})

test('a stopped VM gets another card, moves it to another network, and loses it', async () => {
  const page = await browser.open({ path: `/vms/vm-${uuidOf(KIND.vm, stoppedVm())}?tab=networks` })
  const table = page.getByRole('region', { name: 'Network cards' })
  await table.getByRole('link', { name: 'default' }).waitFor()
  await page.getByRole('button', { name: 'Add card' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Network').selectOption('backend')
  await dialog.getByLabel('Address').selectOption('MANUAL')
  await dialog.getByLabel('IP address').fill('192.168.10.77')
  await dialog.getByRole('button', { name: 'Add card' }).click()
  await table.getByRole('row', { name: /backend 192\.168\.10\.77/ }).waitFor()
  // The line of a running task is above the table, and moves it when the task ends.
  await page.getByText('No running tasks').waitFor()
  await page.getByRole('button', { name: 'Actions of card 1' }).click()
  await page.getByRole('menuitem', { name: 'Disconnect' }).click()
  await table.getByRole('row', { name: /backend.*Disconnected/ }).waitFor()
  await page.getByText('No running tasks').waitFor()
  await page.getByRole('button', { name: 'Actions of card 1' }).click()
  await page.getByRole('menuitem', { name: 'Remove' }).click()
  await table.getByRole('link', { name: 'backend' }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('a new VM gets a card on each chosen network', async () => {
  const page = await browser.open({ path: '/vms/new' })
  await page.getByLabel('Name', { exact: true }).fill('two-cards')
  // Shown once templates and data centre are loaded, whose fields move the others.
  await page.getByText('curl -X POST').waitFor()
  await page.getByRole('combobox', { name: 'Data centre' }).selectOption('main')
  await page.getByRole('combobox', { name: 'Network' }).selectOption('web')
  await page.getByRole('button', { name: 'Add card' }).press('Enter')
  await page.getByLabel('Network of card 1').selectOption('backend')
  await page.getByText(/--network web --network backend/).waitFor()
  const sent = page.waitForRequest(
    (request) => request.method() === 'POST' && request.url().endsWith('composeVApp'),
  )
  await page.getByRole('button', { name: 'Create VM' }).click()
  const body = (await sent).postDataJSON() as { sourcedItem: { instantiationParams: unknown }[] }
  assert.deepEqual(body.sourcedItem[0]?.instantiationParams, {
    networkConnectionSection: {
      networkConnection: [
        { network: 'web', networkConnectionIndex: 0, ipAddressAllocationMode: 'DHCP' },
        { network: 'backend', networkConnectionIndex: 1, ipAddressAllocationMode: 'DHCP' },
      ],
    },
  })
  await page.getByRole('heading', { name: 'two-cards', exact: true }).waitFor()
  await page.context().close()
})

test('an administrator of the cloud creates a direct network, and a stopped VM of the organisation is put on it', async () => {
  const org = `/admin/orgs/${uuidOf(KIND.org, 0)}?tab=vdcs`
  const admin = await browser.open({ user: 'root@System', path: org })
  await admin.getByRole('button', { name: 'Create direct network in main' }).click()
  const form = admin.getByRole('dialog')
  await form.getByLabel('Name').fill('press')
  await form.getByText(/skerry network create press --direct office --org eng --vdc main/).waitFor()
  const options = await form.getByLabel('External network').getByRole('option').allTextContents()
  assert.deepEqual(options, ['office'], 'outbound is the system’s own')
  await form.getByRole('button', { name: 'Create' }).click()
  const networks = admin.getByRole('region', { name: 'Networks of main' })
  await networks.getByRole('link', { name: 'press' }).waitFor()
  await admin.context().close()

  const page = await browser.open({ path: '/networks' })
  await page.getByRole('row', { name: /^press Direct .* office/ }).waitFor()
  await page.getByRole('link', { name: 'press' }).press('Enter')
  await page.getByText(/Its VMs are on the external network office itself/).waitFor()
  await page.goto(`${cell.url}/ui/vms/vm-${uuidOf(KIND.vm, stoppedVm())}?tab=networks`)
  const table = page.getByRole('region', { name: 'Network cards' })
  await table.getByRole('link', { name: 'default' }).waitFor()
  await page.getByText('No running tasks').waitFor()
  await page.getByRole('button', { name: 'Add card' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Network').selectOption('press')
  const modes = await dialog.getByLabel('Address').getByRole('option').allTextContents()
  assert.deepEqual(modes, ['Given by the site, with DHCP', 'None: the guest has its own'])
  await dialog.getByRole('button', { name: 'Add card' }).click()
  await table.getByRole('row', { name: /press .*DHCP/ }).waitFor()

  await page.goto(`${cell.url}/ui/reach?vdc=main`)
  const reach = page.getByRole('region', { name: 'Who reaches whom' })
  await reach.getByRole('row', { name: 'Outside press office Passes' }).waitFor()
  await page.context().close()
})

test('a user without the right sees networks, and why they cannot be changed', async () => {
  const page = await browser.open({ user: 'bob@eng', path: `/networks/${uuidOf(KIND.network, 2)}` })
  const change = page.getByRole('button', { name: 'Change', exact: true })
  await change.waitFor()
  assert.match((await change.getAttribute('aria-description')) ?? '', /network:edit/)
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
