// Goal: every page can be used with a keyboard and a screen reader, in both themes, on a desktop and on a phone. Method: axe's rules
// for WCAG 2.2 AA and best practices, on every address.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Page } from 'playwright-core'

import { violationsOf } from './axe.ts'
import { startBrowser, type WebBrowser } from './browser.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const vm = '/vms/vm-01980001-7331-7000-8000-000000002cb1'
const vapp = '/vapps/vapp-01980002-0000-7000-8000-000000000003'
const uuid = (kind: string, n: string): string => `${kind}-0000-7000-8000-${n.padStart(12, '0')}`

const tenantPages = [
  '/',
  '/vms',
  `/vms?preview=${vm.slice(5)}`,
  '/vms?q=nothing-has-this-name',
  vm,
  `${vm}?tab=snapshots`,
  `${vm}?tab=hardware`,
  `${vm}?tab=metadata`,
  `${vm}?tab=activity`,
  '/vms/new',
  '/vapps',
  '/vapps/new',
  vapp,
  `${vapp}?tab=lease`,
  '/templates',
  '/templates?upload=1',
  `/templates/vappTemplate-${uuid('01980007', '1')}`,
  '/tasks',
  '/events',
  '/settings',
  '/org',
  '/org?tab=quota',
  '/org?tab=leases',
  '/nothing-here',
]
const administratorPages = [
  '/admin/hosts',
  `/admin/hosts/${uuid('01980005', '11')}`,
  '/admin/orgs',
  `/admin/orgs/${uuid('01980004', '1')}?tab=quota`,
  '/admin/vms',
  '/admin/audit',
]

let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell()
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

const settled = async (page: Page): Promise<void> => {
  // By its element: behind a dialog the heading has no role.
  await page.locator('h1').waitFor()
  // The event stream stays open, so the network is never idle.
  await page.waitForTimeout(700)
}

async function check(user: string, paths: readonly string[], width: number): Promise<string[]> {
  const found: string[] = []
  const page = await browser.open({ user, width })
  for (const path of paths) {
    await page.goto(`${cell.url}/ui${path}`)
    await settled(page)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForTimeout(100)
      const violations = await violationsOf(page)
      found.push(...violations.map((violation) => `${path} ${width} ${colorScheme} ${violation}`))
    }
  }
  await page.context().close()
  return found
}

/** A page with the console of its VM, connected, at the side and at the bottom. */
async function checkDock(width: number): Promise<string[]> {
  const found: string[] = []
  const page = await browser.open({ width, path: vm })
  const places = width < 768 ? ['sheet'] : ['side', 'bottom']
  await page.getByRole('button', { name: 'Console', exact: true }).first().click()
  for (const place of places) {
    if (place === 'bottom') {
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('menuitem', { name: 'Dock at the bottom' }).click()
    }
    await page.getByRole('status').getByText('Connected').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      await page.waitForTimeout(100)
      const violations = await violationsOf(page)
      found.push(...violations.map((violation) => `${place} ${width} ${colorScheme} ${violation}`))
    }
  }
  await page.context().close()
  return found
}

for (const width of [1440, 390]) {
  test(`a docked console has no violations at ${width} pixels`, async () => {
    assert.deepEqual(await checkDock(width), [])
  })
  test(`pages of tenants have no violations at ${width} pixels`, async () => {
    assert.deepEqual(await check('alice@eng', tenantPages, width), [])
  })
  test(`pages of administrators have no violations at ${width} pixels`, async () => {
    assert.deepEqual(await check('root@System', administratorPages, width), [])
  })
  test(`the login has no violations at ${width} pixels`, async () => {
    const page = await browser.open({ user: '', path: '/login', width })
    await settled(page)
    assert.deepEqual(await violationsOf(page), [])
    await page.context().close()
  })
}
