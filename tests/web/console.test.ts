// Goal: the console of a VM works beside the page, by keyboard too, and survives changes of the page and lost connections. Method:
// Chromium against the simulated cell; the console behind it has the real relay and a display that records keys.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'

import { until } from '@skerry/lab'
import { endings } from '@skerry/screen'
import type { Locator, Page } from 'playwright-core'

import { screenPage as VM } from './addresses.ts'
import { PATIENCE_MS, startBrowser, type WebBrowser } from './browser.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'
import { dockOf as dock, openConsole, untilConsole as untilState } from './visits.ts'

const ESCAPE = 0xff1b
const TAB = 0xff09
const DELETE = 0xffff

let cell: SimulatedCell
let browser: WebBrowser

before(async () => {
  cell = await startSimulatedCell({ speed: 5 })
  browser = await startBrowser(cell)
})
after(async () => {
  await browser[Symbol.asyncDispose]()
  await cell[Symbol.asyncDispose]()
})

async function openDock(): Promise<Page> {
  const page = await browser.open({ path: VM })
  await openConsole(page)
  await hasFocus(dock(page).locator('canvas'))
  return page
}

const hasFocus = (target: Locator) => target.and(target.page().locator(':focus')).waitFor()

/** Waits until the guest got this key. */
async function untilPressed(keysym: number): Promise<void> {
  const display = cell.console.displays.at(-1) ?? assert.fail('no screen was opened')
  const isPressed = () => display.keys.some(([key, isDown]) => key === keysym && isDown)
  await until(`the guest got the key ${keysym.toString(16)}`, isPressed, PATIENCE_MS)
}

/** Records the states of the console in the page: one that lasts a second is over before a busy machine has looked. */
const recordStates = (page: Page): Promise<unknown> =>
  page.evaluate(`window.states = []
    new MutationObserver(() => {
      for (const { textContent } of document.querySelectorAll('aside [role=status]')) states.push(textContent)
    }).observe(document.body, { subtree: true, childList: true, characterData: true })`)

test('the screen is drawn beside the page, gets the keyboard, and stays while pages change', async () => {
  const opened = cell.console.displays.length
  const page = await openDock()
  const canvas = dock(page).locator('canvas')
  const readColour = () =>
    canvas.evaluate((element) =>
      Array.from(
        (element as unknown as HTMLCanvas).getContext('2d').getImageData(10, 10, 1, 1).data,
      ),
    )
  // The first picture follows the connection.
  const isDrawn = async () => isDeepStrictEqual(await readColour(), [0x7f, 0x7f, 0x7f, 255])
  await until('the screen is drawn', isDrawn, PATIENCE_MS)
  await page.keyboard.press('c')
  await untilPressed(0x63)
  assert.match(page.url(), new RegExp(`${VM}$`), 'the key went to the guest, not to the page')
  await page.getByRole('link', { name: 'Tasks' }).first().click()
  await page.waitForURL('**/ui/tasks')
  await untilState(page, 'Connected')
  assert.equal(cell.console.displays.length, opened + 1)
  await page.context().close()
})

interface HTMLCanvas {
  getContext(kind: '2d'): {
    getImageData(...place: number[]): { readonly data: Uint8ClampedArray }
  }
}

test('every key goes to the guest, and Ctrl Alt Home returns to the tools', async () => {
  const page = await openDock()
  await page.keyboard.press('Tab')
  await untilPressed(TAB)
  await page.keyboard.press('Escape')
  await untilPressed(ESCAPE)
  const focused = () => page.evaluate('document.activeElement.tagName')
  assert.equal(await focused(), 'CANVAS')
  await page.keyboard.press('Control+Alt+Home')
  const keys = dock(page).getByRole('button', { name: 'Send keys' })
  await hasFocus(keys)
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Ctrl-Alt-Del' }).click()
  await untilPressed(DELETE)
  await dock(page).getByRole('button', { name: 'Paste text' }).click()
  await page.getByLabel('Text for the guest').fill('Hi')
  await page.getByRole('button', { name: 'Type it' }).click()
  await untilPressed(0x48)
  await untilPressed(0x69)
  await page.context().close()
})

test('a console that stops is replaced with a new ticket, and an end that is final has a reason', async () => {
  const page = await openDock()
  const opened = cell.console.displays.length
  await recordStates(page)
  cell.console.end(endings.stopping)
  const isEndShown = async () => (await page.evaluate<string[]>('window.states')).includes('Ended')
  await until('the end is shown', isEndShown, PATIENCE_MS)
  await untilState(page, 'Connected')
  assert.equal(cell.console.displays.length, opened + 1)
  cell.console.end(endings.rightLost)
  await untilState(page, 'Access revoked')
  await dock(page).getByText('You no longer have access to this screen').waitFor()
  await dock(page).getByRole('button', { name: 'Connect again' }).click()
  await untilState(page, 'Connected')
  await page.context().close()
})

test('keys go to no shortcut while the console of a focused screen is replaced, and to the guest after it', async () => {
  const page = await openDock()
  await hasFocus(dock(page).locator('canvas'))
  cell.console.end(endings.rightLost)
  await untilState(page, 'Access revoked')
  await page.keyboard.press('c')
  await page.keyboard.press('t')
  await page.keyboard.press('Tab')
  await hasFocus(dock(page).getByRole('button', { name: 'Connect again' }))
  await page.keyboard.press('Enter')
  await untilState(page, 'Connected')
  await hasFocus(dock(page).locator('canvas'))
  assert.match(page.url(), new RegExp(`${VM}$`))
  assert.equal(await page.getByRole('region', { name: 'Latest tasks' }).count(), 0)
  await page.keyboard.press('c')
  await untilPressed(0x63)
  await page.context().close()
})

test('a VM that is shut down is started from the dock, and its screen returns', async () => {
  const page = await openDock()
  await page.getByRole('button', { name: 'Shut down' }).first().click()
  await page.getByRole('button', { name: 'Start', exact: true }).first().waitFor()
  cell.console.end(endings.poweredOff)
  await dock(page).getByRole('heading', { name: 'Off' }).waitFor()
  await dock(page).getByRole('button', { name: 'Start', exact: true }).click()
  await untilState(page, 'Connected')
  await page.context().close()
})

const hasPercent = (edge: Locator, percent: number) =>
  edge.and(edge.page().locator(`[aria-valuenow="${percent}"]`)).waitFor()

test('the dock is resized by keyboard and by pointer, moves to the bottom, and the browser remembers it', async () => {
  const page = await openDock()
  const edge = page.getByRole('separator', { name: 'Size of the console' })
  await edge.focus()
  await page.keyboard.press('ArrowLeft')
  await hasPercent(edge, 42)
  const box = (await edge.boundingBox()) ?? assert.fail('no edge')
  await page.mouse.move(box.x + 3, 400)
  await page.mouse.down()
  await page.mouse.move(720, 400)
  await page.mouse.up()
  await hasPercent(edge, 50)
  const isHalf = async () => Math.abs(((await dock(page).boundingBox())?.width ?? 0) - 720) < 4
  await until('the dock has half of the page', isHalf, PATIENCE_MS)
  await dock(page).getByRole('button', { name: 'More' }).click()
  await page.getByRole('menuitem', { name: 'Dock at the bottom' }).click()
  await edge.and(page.locator('[aria-orientation=horizontal]')).focus()
  await page.keyboard.press('Home')
  await hasPercent(edge, Number(await edge.getAttribute('aria-valuemin')))
  await page.reload()
  await page.getByRole('button', { name: 'Console', exact: true }).first().click()
  await untilState(page, 'Connected')
  const { y, height } = (await dock(page).boundingBox()) ?? assert.fail('no dock')
  assert.ok(y > 400 && height > 150 && height < 250, `${y} ${height}`)
  await page.context().close()
})

test('at most four consoles are open; the menu of a row opens one, and each tab keeps its connection', async () => {
  const page = await browser.open({ path: '/vms?status=on' })
  const rows = page.getByRole('row').filter({ has: page.getByRole('link') })
  for (const at of [0, 1, 2, 3, 4]) {
    await rows
      .nth(at)
      .getByRole('button', { name: /^Actions of/ })
      .click()
    await page.getByRole('menuitem', { name: 'Console' }).click()
    if (at < 4) await untilState(page, 'Connected')
  }
  await page.getByText('4 consoles are open. Close one of them first.').first().waitFor()
  await dock(page).getByRole('tab').nth(3).waitFor()
  assert.equal(await dock(page).getByRole('tab').count(), 4)
  const opened = cell.console.displays.length
  await dock(page).getByRole('tab').first().click()
  await untilState(page, 'Connected')
  const close = dock(page).getByRole('button', { name: /^Close the console of/ })
  await close.focus()
  for (const left of [3, 2, 1]) {
    await page.keyboard.press('Enter')
    await dock(page).getByRole('tab').nth(left).waitFor({ state: 'detached' })
    await hasFocus(close)
  }
  await page.keyboard.press('Enter')
  await hasFocus(page.getByRole('main'))
  assert.equal(cell.console.displays.length, opened)
  await page.context().close()
})

test('on a phone the console covers the page, and closing it shows the page again', async () => {
  const page = await browser.open({ path: VM, width: 390 })
  await openConsole(page)
  assert.deepEqual(await dock(page).boundingBox(), { x: 0, y: 0, width: 390, height: 900 })
  const reachable = 'a, button, input, [tabindex="0"]'
  const behind = await page
    .locator(`#root :is(${reachable}):not([inert] *)`)
    .evaluateAll((controls) => controls.filter((each) => each.closest('aside') === null).length)
  assert.equal(behind, 0, 'no control of the page is behind the console')
  await dock(page)
    .getByRole('button', { name: /^Close the console of/ })
    .click()
  await dock(page).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Console', exact: true }).first().waitFor()
  await page.context().close()
})

test('a page whose code is missing is loaded again once, and then says what to do', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  const known = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => name),
  )
  const documents: string[] = []
  page.on('request', (request) => {
    if (request.isNavigationRequest()) documents.push(new URL(request.url()).pathname)
  })
  const isNew = ({ href }: URL) => /\/assets\/.*\.js$/.test(href) && !known.includes(href)
  await page.route(isNew, (route) => route.abort())
  await page.getByRole('link', { name: 'Events' }).first().click()
  await page.getByText('This page did not load. Check the connection and reload').waitFor()
  assert.deepEqual(documents, ['/ui/events'])
  await page.unroute(isNew)
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByRole('heading', { name: 'Events' }).first().waitFor()
  await page.context().close()
})

test('a console whose code is missing says what to do, and the page stays', async () => {
  const page = await browser.open({ path: VM })
  await page.route(/\/assets\/dock-[^/]+\.js$/, (route) => route.abort())
  await page.getByRole('button', { name: 'Console', exact: true }).first().click()
  await page.getByText('The console did not load').first().waitFor()
  await page.getByRole('tab', { name: 'Overview' }).waitFor()
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})
