// Goal: a person can use the web UI by keyboard, in a browser with all its protections. Method: Chromium against a simulated cell,
// which has the contract of the JSON API, and the built page with the headers of a cell.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until } from '@skerry/lab'
import type { Page, Route } from 'playwright-core'

import { logIn, PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
import { KIND, ORG_VMS, statusOf, uuidOf, type Status } from './simulated-cell/inventory.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const SPEED = 5
let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell({ speed: SPEED })
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

test('a user without a session logs in and reaches the address they came for', async () => {
  const page = await browser.open({ user: '', path: '/vms?q=shop' })
  await page.waitForURL('**/ui/login?to=**')
  await page.getByLabel('User').fill('alice@eng')
  await page.getByLabel('Password').fill('wrong')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').getByText('wrong').waitFor()
  await page.getByLabel('Password').fill('skerry')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/ui/vms?q=shop')
  await page.getByRole('link', { name: 'shop-dev-001' }).waitFor()
  assert.equal(await page.evaluate('document.cookie'), '')
  await page.context().close()
})

test('a VM is filtered, previewed, opened and shut down by the keyboard', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  await page.keyboard.press('/')
  await page.keyboard.type('shop-prod mem>4g')
  await page.waitForURL('**q=shop-prod+mem%3E4g**')
  await page
    .getByRole('link', { name: /^shop-prod/ })
    .first()
    .waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Space')
  await page.getByRole('complementary', { name: /^Preview of shop-prod/ }).waitFor()
  await page.waitForURL('**preview=vm-**')
  await page.keyboard.press('x')
  await page.getByText(/^1 of \d+ selected$/).waitFor()
  await page.keyboard.press('x')
  await page.keyboard.press('.')
  const details = page.getByRole('menuitem', { name: 'Details' })
  await details.waitFor()
  await page.keyboard.press('Escape')
  // A menu that closes gives the focus back.
  await details.waitFor({ state: 'detached' })
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('tab', { name: 'Overview' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').waitFor()
  await page.keyboard.type('shut down')
  // Before the list is filtered, another command is highlighted.
  const highlighted = page.locator('[role=option][data-highlighted]')
  await highlighted.getByText('Shut down', { exact: true }).waitFor()
  // At the usual speed its progress is over before a busy machine has looked.
  cell.setSpeed(0.1)
  await page.keyboard.press('Enter')
  await page.getByRole('progressbar').first().waitFor()
  cell.setSpeed(SPEED)
  await page
    .getByRole('status')
    .getByText(/Off|Shutting down/)
    .first()
    .waitFor()
  await page.goBack()
  await page.waitForURL('**q=shop-prod+mem%3E4g**')
  assert.equal(await page.getByLabel('Filter').inputValue(), 'shop-prod mem>4g')
  await page.context().close()
})

test('a VM shows what it used in the last hour with its gaps, and why there is nothing to show', async () => {
  const vmWith = (status: Status) => {
    const n = Array.from({ length: ORG_VMS }, (_, at) => at).find((at) => statusOf(at) === status)
    return `/vms/vm-${uuidOf(KIND.vm, n ?? assert.fail(status))}`
  }
  const page = await browser.open({ path: vmWith('POWERED_ON') })
  for (const title of ['CPU', 'Memory', 'Disk', 'Network']) {
    const chart = page.getByRole('img', { name: new RegExp(`^${title}\\. .*: now .*, at most`) })
    await chart.waitFor()
    const lines = await chart.locator('g').first().locator('path[class*="trace"]').count()
    assert.equal(lines, 2, `${title}: before and after a gap`)
  }
  await page.route('**/metrics', (route) =>
    route.fulfill({
      status: 503,
      json: { message: 'the host of VM x does not answer; retry in a minute' },
    }),
  )
  await page.reload()
  await page.getByText('the host of VM x does not answer. retry in a minute').waitFor()
  await page.unroute('**/metrics')
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('img', { name: /^CPU/ }).waitFor()
  await page.goto(`${cell.url}/ui${vmWith('POWERED_OFF')}`)
  await page.getByText('The VM is powered off. Its usage is shown while it runs.').waitFor()
  await page.goto(`${cell.url}/ui${vmWith('UNKNOWN')}`)
  await page.getByText('Usage is shown when the host is back.').waitFor()
  await page.context().close()
})

test('a change of a VM is shown without a reload', async () => {
  const page = await browser.open({ path: '/vms?q=web-test-00*&status=off' })
  const row = page.getByRole('row').filter({ hasText: 'web-test-00' }).first()
  await row.waitFor()
  const name = (await row.getByRole('link').textContent()) ?? ''
  await row.getByRole('button', { name: `Actions of ${name}` }).click()
  await page.getByRole('menuitem', { name: 'Start', exact: true }).click()
  await page.getByText(`Starting ${name}`).first().waitFor()
  await page.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' })
  await page.context().close()
})

/** Starts a task that runs as slowly as in a cloud, and counts how often the list of tasks is read from then on. */
async function suspendSlowly(page: Page, query: string): Promise<{ readonly reads: number }> {
  const seen = { reads: 0 }
  page.on('request', (request) => {
    if (new URL(request.url()).searchParams.get('type') === 'task') seen.reads += 1
  })
  const row = page.getByRole('row').filter({ hasText: query }).first()
  await row.waitFor()
  const name = (await row.getByRole('link').textContent()) ?? ''
  await row.getByRole('button', { name: `Actions of ${name}` }).click()
  cell.setSpeed(0.5)
  await page.getByRole('menuitem', { name: 'Suspend', exact: true }).click()
  return seen
}

const endSlowTasks = async (page: Page): Promise<void> => {
  cell.setSpeed(SPEED)
  await page.getByText('No running tasks').waitFor()
}

/** Waits until the line of tasks shows a progress, other than the one before. */
async function nextProgress(page: Page, before = '0 %'): Promise<string> {
  const shown = page.getByRole('region', { name: 'Tasks' }).getByText(/^\d+ %$/)
  const next = shown.and(page.locator(`:not(:text-is("${before}"))`))
  return (await next.textContent()) ?? ''
}

test('progress is shown without a request for the list of tasks', async () => {
  const page = await browser.open({ path: '/vms?q=ldap-test-00*&status=on' })
  const seen = await suspendSlowly(page, 'ldap-test-00')
  // The first may be from the list, which is read when a task is new.
  const second = await nextProgress(page, await nextProgress(page))
  const { reads } = seen
  await nextProgress(page, second)
  assert.ok(reads > 0)
  assert.equal(seen.reads, reads)
  await endSlowTasks(page)
  await page.context().close()
})

test('without events the list of tasks is read until the task has ended', async () => {
  const page = await browser.open({ user: '' })
  await page.route('**/api/events**', (route) => route.abort())
  await logIn(page, cell.url, 'alice@eng')
  await page.goto(`${cell.url}/ui/vms?q=mail-test-00*&status=on`)
  const seen = await suspendSlowly(page, 'mail-test-00')
  const first = await nextProgress(page)
  const { reads } = seen
  await nextProgress(page, first)
  assert.ok(seen.reads > reads)
  await endSlowTasks(page)
  await page.context().close()
})

test('all VMs that match are rebooted as one task, with a result for each VM', async () => {
  const page = await browser.open({ path: '/vms?q=web-test-0*' })
  const row = page.getByRole('row').filter({ hasText: 'web-test-0' }).first()
  await row.getByRole('checkbox').check()
  const all = page.getByRole('button', { name: /^Select all \d+/ })
  const [count = ''] = /\d+/.exec((await all.textContent()) ?? '') ?? []
  await all.click()
  await page.getByText(`All ${count} selected`).waitFor()
  await page.getByRole('button', { name: 'Restart', exact: true }).click()
  const dialog = page.getByRole('alertdialog')
  await dialog.getByText(`skerry vm reboot --filter name==web-test-0* --expect ${count}`).waitFor()
  await dialog.getByRole('button', { name: `Restart ${count}` }).click()
  // Rows move while the list opens: the key goes to the link wherever it is.
  await page
    .getByRole('link', { name: `${count} VMs` })
    .first()
    .press('Enter')
  await page.waitForURL('**/ui/tasks?of=**')
  await page
    .getByText(/VM web-test-0\d+: it is POWERED_OFF/)
    .first()
    .waitFor()
  // Its place changes when the numbers of the other states arrive.
  await page.getByRole('button', { name: 'Failed', exact: true }).press('Enter')
  await page
    .getByRole('main')
    .getByText(/^\d+ of \d+ VMs failed, the first because/)
    .waitFor()
  await page.context().close()
})

test('the last of a million VMs is reached with one key', async () => {
  const page = await browser.open({ user: 'root@System', path: '/admin/vms' })
  await page.getByRole('heading', { name: /All VMs 9\d\d,\d{3}/ }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  const total = Number(await page.getByRole('grid').getAttribute('aria-rowcount'))
  await page.locator(`[aria-rowindex="${total}"] a`).waitFor()
  await page.context().close()
})

test('a user sees the actions that the role lacks, with the reason', async () => {
  const page = await browser.open({ user: 'carol@eng' })
  const create = page.getByRole('button', { name: 'Create VM' })
  assert.equal(await create.getAttribute('aria-disabled'), 'true')
  assert.match((await create.getAttribute('aria-description')) ?? '', /vm:edit/)
  await page.context().close()
})

test('a VM is created with another size than its template, and started', async () => {
  const page = await browser.open({ path: '/vms/new' })
  // Shown once templates and data centre are loaded, whose fields move the others and the button.
  await page.getByText('curl -X POST').waitFor()
  await page.getByLabel('Name').fill('made-by-test')
  await page.getByRole('radio', { name: /debian-13/ }).check()
  await page.getByRole('radio', { name: /4 CPU/ }).check()
  await page.getByRole('button', { name: 'Create VM' }).click()
  await page.getByRole('heading', { name: 'made-by-test' }).waitFor()
  await page.getByText('4 CPU · 8 GiB').first().waitFor()
  await page.context().close()
})

test('a session that ended is renewed in place, and the form stays', async () => {
  const page = await browser.open({ path: '/vms/new' })
  await page.getByLabel('Name').fill('half-filled')
  cell.endSessions()
  await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor()
  await page.getByRole('dialog').getByLabel('Password').fill('skerry')
  await page.getByRole('dialog').getByRole('button', { name: 'Log in', exact: true }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  assert.equal(await page.getByLabel('Name').inputValue(), 'half-filled')
  await page.context().close()
})

test('a cell that is away is reported, and the page recovers', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  cell.setDown(true)
  await page.getByText('The cloud does not answer').waitFor()
  cell.setDown(false)
  await page.getByText('The cloud does not answer').waitFor({ state: 'detached' })
  await page.context().close()
})

test('five tabs share one event stream', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  await until('the first tab has the stream', () => cell.streams > 0, PATIENCE_MS)
  for (let tab = 0; tab < 4; tab++) {
    const other = await page.context().newPage()
    await other.goto(`${cell.url}/ui/vms`)
    await other.getByRole('link', { name: 'api-dev-001' }).waitFor()
  }
  assert.equal(cell.streams, 1)
  await page.context().close()
})

test('a tab that no one looks at passes the event stream on', async () => {
  const page = await browser.open({ user: '' })
  await page.clock.install()
  await logIn(page, cell.url, 'alice@eng')
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  await until('the first tab has the stream', () => cell.streams === 1, PATIENCE_MS)
  const other = await page.context().newPage()
  await other.goto(`${cell.url}/ui/vms?q=cache-test-00*&status=on`)
  const row = other.getByRole('row').filter({ hasText: 'cache-test-00' }).first()
  await row.waitFor()
  await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
    document.dispatchEvent(new Event('visibilitychange'))`)
  const opened = other.waitForRequest('**/api/events**')
  await page.clock.runFor('10:01')
  const request = await opened
  assert.match((await request.allHeaders())['last-event-id'] ?? '', /^\d+-/)
  const name = (await row.getByRole('link').textContent()) ?? ''
  await row.getByRole('button', { name: `Actions of ${name}` }).click()
  await other.getByRole('menuitem', { name: 'Suspend', exact: true }).click()
  await other.getByRole('link', { name, exact: true }).waitFor({ state: 'detached' })
  await page.context().close()
})

test('an API answer that the browser is led to shows nothing', async () => {
  const page = await browser.open({ user: '' })
  await logIn(page, cell.url, 'alice@eng')
  const answer = await page.goto(`${cell.url}/api/session`)
  assert.equal(answer?.status(), 401)
  assert.match(answer?.headers()['content-security-policy'] ?? '', /sandbox/)
  await page.context().close()
})

const runningTask = {
  href: `/api/task/${uuidOf(KIND.task, 1)}`,
  name: 'vappDeploy',
  status: 'running',
  objectName: 'api-dev-001',
  ownerName: 'alice',
  startDate: new Date().toISOString(),
}

test('an answer from before the event stream was open is followed by another read', async () => {
  const latestTasks = /type=task&.*isInBulk/
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  const [asked, opened] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const answerLate = async (route: Route): Promise<void> => {
    const response = await route.fetch()
    const json = (await response.json()) as object
    asked.resolve()
    await opened.promise
    await route.fulfill({ response, json: { ...json, total: 1, taskRecord: [runningTask] } })
  }
  await page.route(latestTasks, answerLate, { times: 1 })
  const stream = page.waitForResponse((response) => response.url().includes('/api/events'))
  await page.reload()
  await Promise.all([stream, asked.promise])
  const again = page.waitForRequest(latestTasks)
  opened.resolve()
  await again
  await page.getByText('No running tasks').waitFor()
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
