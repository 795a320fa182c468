// Goal: an administrator of the cloud sees the cells, the open consoles and what organisations used, closes a console, and manages roles and webhooks; no one else is led there.
// Method: Chromium against a simulated cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'

import { PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
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

test('a cell is shown with its state and its checks, and leads to the hosts that it follows', async () => {
  const page = await browser.open({ user: 'root@System', path: '/admin/cells' })
  for (const state of ['Alive and fit', 'A check fails', 'Not alive']) {
    await page.getByText(state, { exact: true }).waitFor()
  }
  const checks = page.getByRole('region', { name: 'Checks of cell-2' })
  await checks.getByRole('row', { name: /Temporal.*not ok.*no task starts/ }).waitFor()
  await page.getByRole('link', { name: '500' }).first().press('Enter')
  await page.waitForURL('**/admin/hosts?cell=cell-1')
  await page.getByRole('heading', { name: 'Hosts' }).waitFor()
  // Its place changes when the numbers of the states arrive.
  await page.getByRole('button', { name: 'Followed by cell-1' }).press('Enter')
  await page.waitForURL('**/admin/hosts')
  await page.context().close()
})

test('a console is found by its user and closed', async () => {
  const page = await browser.open({ user: 'root@System', path: '/admin/consoles' })
  const table = page.getByRole('region', { name: 'Open consoles' })
  const rows = table.getByRole('row')
  await rows.nth(12).waitFor()
  const user = (await rows.nth(1).getByRole('cell').first().textContent()) ?? ''
  await page.getByLabel('Filter').fill(user)
  const countListed = async (): Promise<number | false> => {
    const users = await table.locator('tbody tr > :first-child').allTextContents()
    return users.length > 0 && users.every((name) => name.includes(user)) && users.length
  }
  const before = await until('only consoles of the user are listed', countListed, PATIENCE_MS)
  await rows.nth(1).getByRole('button', { name: 'Close' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Close' }).click()
  await page.getByText(/^Closed the console of /).waitFor()
  // The first row has the titles of the columns.
  const isGone = async () => (await rows.count()) === before
  await until('the console is no longer listed', isGone, PATIENCE_MS)
  await page.context().close()
})

test('each turn of the wheel counts, and the scrollbar of a million rows follows and leads', async () => {
  const page = await browser.open({ user: 'root@System', path: '/admin/vms' })
  const top = page.locator('[aria-rowindex="2"] a')
  await top.waitFor()
  // Two turns by 50 rows before the list can be drawn.
  await page.evaluate(`for (const deltaY of [1700, 1700])
    document.querySelector('[role=grid]').dispatchEvent(new WheelEvent('wheel', { deltaY }))`)
  const reached = page.locator('[aria-rowindex="122"] a')
  await reached.waitFor()
  let moved = 0
  await until(
    'the scrollbar follows',
    async () => {
      moved = await page.evaluate<number>(`document.querySelector('[role=grid]').scrollTop`)
      return moved > 0
    },
    PATIENCE_MS,
  )
  // A user moves it back, and to the place where the list itself had moved it.
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = 0`)
  await top.waitFor()
  await page.evaluate(`document.querySelector('[role=grid]').scrollTop = ${moved}`)
  await reached.waitFor()
  await page.context().close()
})

test('a tenant is not led to the pages of the cloud', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  for (const name of ['Cells', 'Open consoles']) {
    assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name)
  }
  await page.context().close()
})

test('what an organisation used is shown as charts of hours, sums of the month, and a table to download', async () => {
  const page = await browser.open({ user: 'root@System', path: '/org?tab=usage' })
  for (const title of ['CPUs', 'Memory', 'Storage', 'External addresses']) {
    await page.getByRole('img', { name: new RegExp(`^${title}\\. .*: now `) }).waitFor()
  }
  const sums = page.getByRole('region', { name: 'This month so far' })
  await sums.getByRole('row', { name: /^Storage of VMs, with snapshots .* GiB h$/ }).waitFor()
  assert.equal(await sums.getByRole('row').count(), 10)
  const table = page.getByRole('link', { name: 'CSV by day' })
  assert.match((await table.getAttribute('href')) ?? '', /\/usage\.csv\?from=\d{4}-\d\d-01$/)
  await page.context().close()
})

test('a webhook is added with its secret shown once, tested, disabled and removed', async () => {
  const page = await browser.open({ user: 'root@System', path: '/org?tab=webhooks' })
  const table = page.getByRole('region', { name: 'Webhooks' })
  await table.getByRole('row', { name: /^pager .* all Failing: it answered 503 42/ }).waitFor()
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('chat')
  await dialog.getByLabel('URL').fill('https://chat.example/in')
  await dialog.getByLabel('Kinds of events').fill('task.error, vm.')
  await dialog.getByRole('button', { name: 'Add webhook' }).click()
  await dialog.getByText(/^whsec_/).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).click()
  const rowOf = (state: string) =>
    table.getByRole('row', {
      name: new RegExp(`^chat https://chat.example/in task.error, vm. ${state} 0`),
    })
  await rowOf('Working').waitFor()

  const choose = async (item: string, name = 'chat') => {
    await page.getByRole('button', { name: `Actions of ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('Send a test message')
  await page.getByText('The receiver answered 204').waitFor()
  await choose('Send a test message', 'pager')
  await page.getByRole('alert').getByText('The receiver answered 503').waitFor()
  await choose('Last messages', 'pager')
  const messages = page.getByRole('dialog')
  await messages
    .getByRole('row', { name: /answered 503/ })
    .first()
    .waitFor()
  assert.equal(await messages.getByRole('row').count(), 4)
  await messages.getByText(/^skerry webhook resend pager --from 0198/).waitFor()
  await messages.getByRole('button', { name: 'Close' }).click()
  await choose('Disable')
  await rowOf('Disabled').waitFor()
  await choose('Remove')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await rowOf('Disabled').waitFor({ state: 'detached' })
  await page.context().close()
})

test('a role is added with the rights that are chosen, given to a user, changed and removed; one in use stays', async () => {
  const page = await browser.open({ user: 'root@System', path: '/org?tab=roles' })
  const table = page.getByRole('region', { name: 'Roles' })
  await table.getByRole('row', { name: /^night shift session, vm:read, .* 3 0/ }).waitFor()
  await page.getByRole('button', { name: 'Add role' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('operator')
  await dialog.getByLabel('See VMs, tasks and events').check()
  await dialog.getByLabel('Start and stop VMs').check()
  await dialog.getByRole('button', { name: 'Add role' }).click()
  const rowOf = (rights: string) =>
    table.getByRole('row', { name: new RegExp(`^operator session, ${rights} 0 0`) })
  await rowOf('vm:read, vm:power').waitFor()
  const choose = async (name: string, item: string) => {
    // Rows arrive one by one.
    await page.getByRole('button', { name: `Actions of ${name}` }).press('Enter')
    await page.getByRole('menuitem', { name: item }).click()
  }
  await choose('operator', 'Change')
  await dialog.getByLabel('Start and stop VMs').uncheck()
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await rowOf('vm:read').waitFor()

  await page.getByRole('tab', { name: 'Users' }).click()
  await choose('dave', 'Change role or password')
  await dialog.getByLabel('Role').selectOption('operator')
  await dialog.getByRole('button', { name: 'Save changes' }).click()
  await page.getByRole('row', { name: /^dave operator/ }).waitFor()

  await page.getByRole('tab', { name: 'Roles' }).click()
  await page.getByRole('button', { name: 'Actions of night shift' }).click()
  await page
    .getByRole('menuitem', { name: 'Remove' })
    .and(page.locator('[aria-disabled=true]'))
    .waitFor()
  await page.keyboard.press('Escape')
  await choose('operator', 'Remove')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove' }).click()
  await rowOf('vm:read').waitFor({ state: 'detached' })
  await page.context().close()
})
