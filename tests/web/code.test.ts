// Goal: the code of a page is small, and what the user does while it is on its way is not lost. Method: Chromium against a simulated
// cell and the built page; answers with code are held back.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { gzipSync } from 'node:zlib'

import { logIn, startBrowser, type WebBrowser } from './browser.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'

const dist = join(import.meta.dirname, '../../apps/web/dist')
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

test('the scripts until the list of VMs is shown have at most 220 KiB, packed, and no page adds more than 20', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  const loaded = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  )
  await page.context().close()
  const first = loaded.flatMap((path) => (path.endsWith('.js') ? path.replace('/ui/', '') : []))
  const sum = packedBytes(first)
  assert.ok(first.length > 3 && sum <= 220 * 1024, `${sum} bytes in ${first.length} files`)
  const others = globSync('**/*.js', { cwd: dist }).filter((file) => !first.includes(file))
  for (const file of others) {
    assert.ok(packedBytes([file]) <= 20 * 1024, `${file}: ${packedBytes([file])} bytes`)
  }
})

function packedBytes(files: readonly string[]): number {
  return files
    .map((file) => gzipSync(readFileSync(join(dist, file)), { level: 9 }).length)
    .reduce((sum, length) => sum + length, 0)
}

test('a list that writes its row into the address keeps no one from the page they opened', async () => {
  const page = await browser.open({ user: '' })
  await page.clock.install()
  await logIn(page, cell.url, 'alice@eng')
  const link = page.getByRole('link', { name: /^api-dev-/ })
  await link.first().waitFor()
  const loading = Promise.withResolvers<void>()
  await page.route('**/*.js', async (route) => {
    await loading.promise
    await route.continue()
  })
  await page.getByRole('grid').hover()
  await page.mouse.wheel(0, 400)
  await page.getByRole('link', { name: 'api-dev-020', exact: true }).waitFor()
  const asked = page.waitForRequest('**/*.js')
  await page.getByRole('link', { name: 'api-dev-020', exact: true }).click()
  await asked
  // The timers of the list are due while the code of the next page is still on its way.
  await page.clock.runFor(2000)
  loading.resolve()
  await page.getByRole('tab', { name: 'Overview' }).waitFor()
  assert.match(new URL(page.url()).pathname, /^\/ui\/vms\/vm-/)
  await page.context().close()
})

test('what is typed before the palette is loaded goes into it, and to no shortcut', async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  const loading = Promise.withResolvers<void>()
  await page.route(/\/command-palette-[^/]+\.js$/, async (route) => {
    await loading.promise
    await route.continue()
  })
  await page.getByRole('grid').focus()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('txc')
  loading.resolve()
  const palette = page.getByRole('combobox', { name: 'Search or run a command' })
  await palette.waitFor()
  assert.equal(await palette.inputValue(), 'txc')
  assert.equal(new URL(page.url()).pathname, '/ui/vms')
  assert.equal(await page.getByText(/^1 of \d+ selected$/).count(), 0)
  await page.keyboard.press('Escape')
  await palette.waitFor({ state: 'detached' })
  await page.keyboard.press('Control+k')
  await palette.waitFor()
  assert.equal(await palette.inputValue(), '')
  await page.context().close()
})
