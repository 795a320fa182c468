// Goal: another language breaks no page: words 40 % longer, and text from right to left. Method: the words of the built pages are
// made longer in the browser, so that the product has nothing for it; then every text and control of every address is measured.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { administratorPages, screenPage, tenantPages } from './addresses.ts'
import { startBrowser, type WebBrowser } from './browser.ts'
import { inPage } from './in-page.ts'
import { startSimulatedCell, type SimulatedCell } from './simulated-cell/server.ts'
import { openConsole, startVisits } from './visits.ts'

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

/** `isWithConsole`: the console of each VM is opened too. */
async function check(
  user: string,
  paths: readonly string[],
  width: number,
  isWithConsole = false,
): Promise<string[]> {
  await using visitor = await startVisits(browser, cell.url, { user, width })
  const { page } = visitor
  // The policy of the page forbids foreign scripts; the debugger's protocol does not.
  await page.evaluate(inPage('readability'))
  const found: string[] = []
  for (const path of paths) {
    for (const direction of ['ltr', 'rtl'] as const) {
      await page.evaluate(`document.documentElement.dir = '${direction}'`)
      if (direction === 'ltr' && user !== '') await visitor.visit(path)
      if (direction === 'ltr' && isWithConsole) await openConsole(page)
      await visitor.settled()
      if (direction === 'ltr') await page.evaluate('readability.lengthenWords()')
      const unreadable = await page.evaluate<string[]>('readability.findUnreadable()')
      found.push(...unreadable.map((text) => `${path} ${width} ${direction} ${text}`))
    }
  }
  return found
}

for (const width of [1440, 390]) {
  test(`longer words and text from right to left are readable at ${width} pixels`, async () => {
    const found = [
      ...(await check('', ['/login'], width)),
      ...(await check('alice@eng', tenantPages, width)),
      ...(await check('root@System', administratorPages, width)),
    ]
    assert.deepEqual(found, [])
  })
  test(`a page with a console is readable in the same way at ${width} pixels`, async () => {
    assert.deepEqual(await check('alice@eng', [screenPage], width, true), [])
  })
}
