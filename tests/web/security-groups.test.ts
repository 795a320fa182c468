// Goal: a user sees and changes security groups in the web UI. Method: Chromium against a simulated cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'

import { PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
import { factsOf, KIND, uuidOf } from './simulated-cell/inventory.ts'
import { changeGroupBehindThePage } from './simulated-cell/security-groups.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const groupPath = (n: number): string => `/security-groups/${uuidOf(KIND.securityGroup, n)}`
const [WEB, DB] = [0, 1]

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

test('a security group is created, gets rules, loses one and is deleted', async () => {
  const page = await browser.open({ path: '/security-groups' })
  await page.getByRole('row', { name: /^web role=web Only by a rule Everything 2 6$/ }).waitFor()
  await page.getByRole('button', { name: 'Create security group' }).click()
  await page.getByLabel('Name', { exact: true }).fill('cache')
  await page.getByLabel('Labels').fill('role')
  // Shown once the organisation is loaded.
  await page.getByText('curl -X POST').waitFor()
  const create = page.getByRole('button', { name: 'Create security group' })
  assert.match((await create.getAttribute('aria-description')) ?? '', /written like role=web/)
  await page.getByLabel('Labels').fill('role=cache\nstage=live')
  const command = 'skerry security-group create cache --label role=cache --label stage=live'
  await page.getByText(command, { exact: true }).waitFor()
  await create.click()
  await page.getByRole('heading', { name: 'cache', exact: true }).waitFor()
  await page.getByText('No rule: its VMs accept nothing but replies.').waitFor()

  await page.getByRole('button', { name: 'Add rule: What its VMs accept' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Ports').fill('6379')
  await dialog.getByLabel('From', { exact: true }).selectOption('group')
  await dialog.getByLabel('Security group').selectOption('web')
  await dialog
    .getByText('skerry security-group allow cache --protocol tcp --port 6379 --peer web')
    .waitFor()
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const accepted = page.getByRole('region', { name: 'What its VMs accept' })
  await accepted.getByRole('row', { name: /^1 tcp 6379 VMs of web/ }).waitFor()

  await page.getByRole('button', { name: 'Add rule: What its VMs send' }).click()
  await dialog.getByText(/its VMs send nothing else/).waitFor()
  await dialog.getByLabel('Protocol').selectOption('any')
  await dialog.getByLabel('To', { exact: true }).selectOption('addresses')
  await dialog.getByLabel('Addresses').fill('10.0.0.0/8')
  await dialog.getByRole('button', { name: 'Add rule' }).click()
  const sent = page.getByRole('region', { name: 'What its VMs send' })
  await sent.getByRole('row', { name: /^2 any all 10\.0\.0\.0\/8/ }).waitFor()

  await page.getByRole('button', { name: 'Remove rule 1' }).click()
  const asked = page.getByRole('alertdialog')
  await asked.getByText('skerry security-group rm cache --rule 1').waitFor()
  await asked.getByRole('button', { name: 'Remove' }).click()
  await accepted.waitFor({ state: 'detached' })

  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await asked.getByRole('button', { name: 'Delete' }).click()
  await page.waitForURL('**/ui/security-groups')
  await page.getByRole('link', { name: 'web' }).waitFor()
  await page.getByRole('link', { name: 'cache' }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('the VMs of a group lead to their pages, and a group that is a peer is not deleted and says why', async () => {
  const page = await browser.open({ path: groupPath(WEB) })
  const vms = page.getByRole('list', { name: 'VMs with its labels' })
  await vms.getByRole('link', { name: factsOf(12_000).name }).waitFor()
  await page.getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click()
  await page
    .getByRole('alert')
    .getByText(/is a peer in rules of db/)
    .waitFor()
  await page.context().close()
})

test('a change of someone else is shown, and the own change is applied again', async () => {
  const page = await browser.open({ path: groupPath(DB) })
  await page.getByRole('button', { name: 'Change', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Labels').fill('role=db\nstage=live')
  await dialog.getByLabel('Its VMs send only what a rule allows').uncheck()
  await dialog.getByText(/^1 rule of a direction/).waitFor()
  changeGroupBehindThePage(DB)
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  const conflict = page.getByRole('dialog', { name: /was changed meanwhile/ })
  await conflict.getByText('in: tcp 22, anybody').waitFor()
  await conflict.getByRole('button', { name: 'Apply again' }).click()
  await page.getByRole('definition').filter({ hasText: 'role=db, stage=live' }).waitFor()
  const accepted = page.getByRole('region', { name: 'What its VMs accept' })
  await accepted.getByRole('row', { name: /^2 tcp 22 anybody/ }).waitFor()
  await page.getByText('The group does not limit it: everything may be sent.').waitFor()
  await page.context().close()
})

test('a user who may not change groups sees them, and why', async () => {
  const page = await browser.open({ user: 'bob@eng', path: groupPath(WEB) })
  for (const name of ['Change', 'Delete', 'Add rule: What its VMs accept', 'Remove rule 1']) {
    const button = page.getByRole('button', { name, exact: true })
    await button.waitFor()
    assert.match((await button.getAttribute('aria-description')) ?? '', /network:edit/, name)
  }
  await page.context().close()
})

test('what is typed stays while the group cannot be read again, and a group that is gone is reported', async () => {
  const page = await browser.open({ path: groupPath(WEB) })
  await page.getByRole('button', { name: 'Add rule: What its VMs accept' }).click()
  const ports = page.getByRole('dialog').getByLabel('Ports')
  await ports.fill('6379')
  let status = 503
  let answers = 0
  await page.route('**/api/admin/securityGroup/*', (route) => {
    answers += 1
    return route.fulfill({ status, json: { message: 'the group cannot be read' } })
  })
  // What is visible is read again when the stream is back.
  cell.endStreams()
  // One read is three requests; the fourth shows that it failed.
  await until('the group is read once more', () => answers > 3, PATIENCE_MS)
  assert.equal(await ports.inputValue(), '6379')
  status = 404
  await page.getByRole('heading', { name: 'Not found' }).waitFor()
  await ports.waitFor({ state: 'detached' })
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
