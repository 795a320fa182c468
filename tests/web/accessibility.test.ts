// Goal: every page can be used with a keyboard and a screen reader, in both themes, on a desktop and on a phone. Method: axe's rules
// for WCAG 2.2 AA and best practices, on every address; in the dark theme the rules that read colours, as nothing else differs.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { CDPSession, Page } from 'playwright-core'

import { administratorPages, screenPage, tenantPages, unvisited } from './addresses.ts'
import { findViolations, openAxe, TWO_FRAMES, type rulesOf } from './axe.ts'
import { startBrowser, type WebBrowser } from './browser.ts'
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

async function violationsIn(
  page: Page,
  session: CDPSession,
  theme: keyof typeof rulesOf,
): Promise<string[]> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  return findViolations(session, theme)
}

/** `isWithConsole`: the console of each VM is opened too. */
async function check(
  user: string,
  paths: readonly string[],
  width: number,
  isWithConsole = false,
): Promise<string[]> {
  await using visitor = await startVisits(browser, cell.url, { user, width })
  const { page } = visitor
  const session = await openAxe(page)
  const found: string[] = []
  for (const path of paths) {
    await (user === '' ? visitor.settled() : visitor.visit(path))
    if (isWithConsole) await openConsole(page)
    for (const theme of ['light', 'dark'] as const) {
      const violations = await violationsIn(page, session, theme)
      found.push(...violations.map((violation) => `${path} ${width} ${theme} ${violation}`))
    }
  }
  return found
}

/** For all addresses on a busy machine: a browser that hangs fails a test that names the width. */
const LONGEST = { timeout: 300_000 }

for (const width of [1440, 390]) {
  test(`pages of tenants have no violations at ${width} pixels`, LONGEST, async () => {
    assert.deepEqual(await check('alice@eng', tenantPages, width), [])
  })
  test(`pages of administrators have no violations at ${width} pixels`, LONGEST, async () => {
    assert.deepEqual(await check('root@System', administratorPages, width), [])
  })
  test(`a page with a console has no violations at ${width} pixels`, LONGEST, async () => {
    assert.deepEqual(await check('alice@eng', [screenPage], width, true), [])
  })
  test(`the login has no violations at ${width} pixels`, LONGEST, async () => {
    assert.deepEqual(await check('', ['/login'], width), [])
  })
}

test('nothing moves for users who ask for less motion', LONGEST, async () => {
  const page = await browser.open()
  await page.getByRole('link', { name: 'api-dev-001' }).waitFor()
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' })
  await page.evaluate(`addEventListener('transitionrun', () => (window.moved = true), true)`)
  const colorOf = () => page.evaluate(`getComputedStyle(document.body).backgroundColor`)
  const light = await colorOf()
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
  await page.evaluate(TWO_FRAMES)
  assert.notEqual(await colorOf(), light)
  assert.equal(await page.evaluate('window.moved'), undefined)
  await page.context().close()
})

test('no page violates its policy or throws an error', () => {
  assert.deepEqual(browser.problems, [])
})

test('every address of a cloud is visited', () => {
  assert.deepEqual(unvisited('cloud', ['/login', ...tenantPages, ...administratorPages]), [])
})
