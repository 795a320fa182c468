// Goal: an administrator of the cloud sees the cells, the open consoles and what organisations used, and closes a console; no one else is led there.
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
