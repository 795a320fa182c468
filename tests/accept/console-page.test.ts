// Goal: the console's page in a real browser: it shows a real machine's screen, reveals the ticket to no one, loads nothing from
// other origins, explains each end with the next step, and is usable by keyboard, with a screen reader, on small and large
// screens.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'

import { BROWSER, reasonToSkip, until } from '@skerry/lab'
import { endings } from '@skerry/screen'
import axe from 'axe-core'
import { chromium, type Browser, type Page } from 'playwright-core'

import { startBareMachine } from '../../packages/screen/test/bare-machine.ts'
import { hostileTexts } from '../../packages/screen/test/hostile-texts.ts'
import { startPageStand, type PageStand } from '../../packages/screen/test/page-stand.ts'
import {
  simulatedDisplay,
  type SimulatedDisplay,
} from '../../packages/screen/test/simulated-display.ts'

const skip = reasonToSkip('browser', 'host') ?? false
const options = { skip, timeout: 300_000 }
const PATIENCE_MS = 30_000
const POWER = '**/api/vms/power/*'
/** Violations of the policy are reported to the page; here they are recorded. */
const VIOLATIONS = `window.violations = []; document.addEventListener('securitypolicyviolation', (event) =>
  violations.push(event.violatedDirective + ' ' + event.blockedURI))`

let started: Promise<Browser> | undefined
const browser = (): Promise<Browser> =>
  (started ??= chromium.launch({ executablePath: BROWSER, args: ['--no-sandbox'] }))
after(async () => {
  await (await started)?.close()
})

interface Opened extends AsyncDisposable {
  readonly page: Page
  /** All requests of the browser, including WebSockets. */
  readonly requested: string[]
  readonly tone: (tone: 'connected' | 'calm' | 'trouble') => Promise<void>
  readonly read: (expression: string) => Promise<unknown>
  readonly state: () => Promise<string | null>
}

async function openPage(options: Parameters<Browser['newContext']>[0] = {}): Promise<Opened> {
  const context = await (await browser()).newContext(options)
  await context.addInitScript(VIOLATIONS)
  const page = await context.newPage()
  page.setDefaultTimeout(PATIENCE_MS)
  const requested: string[] = []
  page.on('request', (request) => requested.push(request.url()))
  page.on('websocket', (socket) => requested.push(socket.url()))
  const errors: unknown[] = []
  page.on('pageerror', (error) => errors.push(error))
  return {
    page,
    requested,
    tone: (tone) => page.locator(`body[data-tone=${tone}]`).waitFor(),
    read: (expression) => page.evaluate(expression),
    state: () => page.locator('#state').textContent(),
    async [Symbol.asyncDispose]() {
      const violations = page.isClosed() ? [] : await page.evaluate('window.violations')
      await context.close()
      assert.deepEqual(violations, [], 'the policy holds')
      assert.deepEqual(errors, [])
    },
  }
}

const LIT = `(() => {
  const canvas = document.querySelector('canvas')
  if (!canvas || canvas.width === 0) return 0
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  let lit = 0
  for (let at = 0; at < data.length; at += 4) if (data[at] > 100) lit += 1
  return lit
})()`

/** Serious accessibility violations, with their elements. */
async function findsNoFault({ page }: Opened, where: string): Promise<void> {
  await page.evaluate(axe.source)
  const reported =
    await page.evaluate(`axe.run({ resultTypes: ['violations'] }).then(({ violations }) =>
    violations.filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`)
  assert.deepEqual(reported, [], where)
}

async function simulatedStand(): Promise<PageStand & { readonly shown: SimulatedDisplay[] }> {
  const shown: SimulatedDisplay[] = []
  const stand = await startPageStand(() => {
    const display = simulatedDisplay('a <b>bold</b> guest')
    shown.push(display)
    return display.stream
  })
  return Object.assign(stand, { shown })
}

test(
  'a ticket opens the screen of a real machine; nothing leaves the origin, and the ticket is stored nowhere',
  options,
  async (t) => {
    await using machine = await startBareMachine()
    await using stand = await startPageStand(() => machine.display())
    await using opened = await openPage()
    const { page, requested, tone, read } = opened
    const { ticket, address } = stand.ticket()
    const start = performance.now()
    await page.goto(address)
    await tone('connected')
    await until('the BIOS to be visible', async () => Number(await read(LIT)) > 500, PATIENCE_MS)
    t.diagnostic(`first picture after ${Math.round(performance.now() - start)} ms`)
    const weight = await read(
      `performance.getEntriesByType('resource').reduce((sum, entry) => sum + entry.transferSize, 0)`,
    )
    t.diagnostic(`the page weighs ${Math.round(Number(weight) / 1024)} KiB (gzip)`)

    const elsewhere = requested
      .filter((url) => !url.startsWith('data:'))
      .map((url) => new URL(url).host)
    assert.deepEqual([...new Set(elsewhere)], [new URL(stand.origin).host])

    const bare = ticket.slice(-20)
    const devTools = await page.context().newCDPSession(page)
    const history = await devTools.send('Page.getNavigationHistory')
    const kept =
      await read(`JSON.stringify([location.href, document.referrer, document.cookie, history.state,
    { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML,
    performance.getEntries().filter(({ entryType }) => entryType !== 'navigation').map(({ name }) => name), Object.keys(window).includes('takenAddress')])`)
    // A browser keeps the navigation URL of a document for its own scripts; by then the ticket is used up.
    assert.ok(!String(kept).includes(bare), 'the page keeps no ticket')
    const been = history.entries.map(({ url }) => url)
    assert.deepEqual(been.slice(-1), [`${stand.origin}/console`])
    assert.ok(!been.join(' ').includes(bare), 'the history has no ticket')
    assert.equal(page.url(), `${stand.origin}/console`)
    assert.deepEqual([...new Set(stand.requested.map(({ referer }) => referer))], [undefined])
    const carrying = requested
      .filter((url) => url.includes(bare))
      .map((url) => new URL(url).pathname)
    assert.deepEqual(carrying, ['/console', '/screen/vm-7c9e'])

    await page.reload()
    await tone('trouble')
    assert.equal(await opened.state(), 'Ticket used')
    await page.goto(address)
    await tone('trouble')
    assert.equal(await page.locator('#headline').textContent(), 'The screen was not opened')
  },
)

test(
  'every end is explained with the next step, for screen readers and in dark mode',
  options,
  async () => {
    await using stand = await simulatedStand()
    const ends = [
      ['The VM was powered off', () => stand.end(endings.poweredOff)],
      ['You no longer have access to this screen', () => stand.end(endings.rightLost)],
      ['This console was stopped', () => stand.end(endings.stopping)],
      ['The link to the VM’s host was lost', () => stand.end(endings.hostLost)],
      ['The connection was lost', () => stand.cut()],
    ] as const
    for (const colorScheme of ['light', 'dark'] as const) {
      await using opened = await openPage({ colorScheme })
      const { page, tone } = opened
      // Dark mode differs only in colours, which are defined by tone.
      for (const [words, end] of colorScheme === 'light' ? ends : [ends[0], ends[4]]) {
        await page.goto(stand.ticket().address)
        await tone('connected')
        if (end === ends[0][1]) {
          await page.locator('#keys').click()
          await page.locator('#clipboard').click()
          await findsNoFault(opened, `connected, ${colorScheme}`)
        }
        end()
        await page.getByRole('heading', { name: words }).waitFor()
        assert.ok(((await page.locator('#advice').textContent()) ?? '').length > 30)
        assert.notEqual(await opened.state(), 'Connected')
        await findsNoFault(opened, `${words}, ${colorScheme}`)
      }
      for (const [path, words] of [
        ['/console', 'This page opens a screen with a ticket'],
        ['/console?nonsense', 'The URL contains no valid ticket'],
      ] as const) {
        // From another page: the same address again would be a reload.
        await page.goto('about:blank')
        await page.goto(stand.origin + path)
        await page.getByRole('heading', { name: words }).waitFor()
        await findsNoFault(opened, `${words}, ${colorScheme}`)
      }
    }
  },
)

test(
  'a laptop’s screen reconnects by itself: after a lost connection, and when the VM is on again',
  options,
  async () => {
    await using stand = await simulatedStand()
    await using opened = await openPage()
    const { page, tone } = opened
    await page.goto(`${stand.origin}/console/web`)
    await tone('connected')
    assert.equal(await page.title(), 'a <b>bold</b> guest – console')
    // Recorded in the page: the tone of a second is over before a busy machine has looked.
    await opened.read(`window.tones = []; new MutationObserver(() =>
      tones.push(document.body.dataset.tone)).observe(document.body, { attributes: true })`)
    stand.cut()
    const isTrouble = async () =>
      ((await opened.read('window.tones')) as string[]).includes('trouble')
    await until('the lost connection is shown', isTrouble, PATIENCE_MS)
    await tone('connected')
    // The page reads the power by itself too. Held here until the user has connected, it must not connect a second time.
    const [asked, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    await page.route(POWER, async (route) => {
      asked.resolve()
      await held.promise
      await route.continue()
    })
    stand.end(endings.poweredOff)
    await page.getByRole('heading', { name: 'The VM was powered off' }).waitFor()
    await asked.promise
    await page.getByRole('button', { name: 'Connect again' }).click()
    await tone('connected')
    const answered = page.waitForResponse(POWER)
    held.resolve()
    await (await answered).finished()
    assert.equal(await opened.read('document.querySelectorAll("#display canvas").length'), 1)
    assert.equal(stand.shown.length, 3)
    await page.unroute(POWER)

    stand.power = 'powered off'
    await page.reload()
    await tone('calm')
    assert.equal(await opened.state(), 'Powered off')
  },
)

test(
  'the screen and every tool of the page can be reached and left by keyboard',
  options,
  async () => {
    await using stand = await simulatedStand()
    await using opened = await openPage()
    const { page, tone, read } = opened
    await page.goto(stand.ticket().address)
    await tone('connected')
    const focus = () => read('document.activeElement.id || document.activeElement.localName')
    assert.equal(await focus(), 'canvas')
    // Goes to the guest, like every key.
    await page.keyboard.press('Tab')
    assert.equal(await focus(), 'canvas')
    await page.keyboard.press('Control+Alt+Home')
    assert.equal(await focus(), 'keys')
    const display = stand.shown[0]
    assert.ok(display)
    const held = new Map<number, boolean>()
    await until(
      'every key to be released',
      () => {
        for (const [key, isDown] of display.keys) held.set(key, isDown)
        return held.has(0xff09) && held.has(0xffe3) && ![...held.values()].includes(true)
      },
      PATIENCE_MS,
    )
    assert.ok(!held.has(0xff50), 'Home does not go to the guest here')
    await page.keyboard.press('Enter')
    assert.ok(await page.locator('#keys-panel').isVisible())
    await page.keyboard.press('Tab')
    for (const name of ['clipboard', 'fit', 'view-only', 'full']) {
      assert.equal(await focus(), name)
      await page.keyboard.press('Tab')
    }
    assert.equal(await read('document.activeElement.textContent'), 'Ctrl-Alt-Del')
    await page.keyboard.press('Escape')
    assert.equal(await focus(), 'keys')
    assert.ok(await page.locator('#keys-panel').isHidden())
    await page.locator('#skip').focus()
    assert.ok(await page.locator('#skip').isVisible())
    await page.keyboard.press('Enter')
    assert.equal(await focus(), 'canvas')
  },
)

test(
  'keys, typed text and clipboard reach the guest, and text copied in the guest reaches the user',
  options,
  async () => {
    await using stand = await simulatedStand()
    await using opened = await openPage()
    const { page, tone } = opened
    await page.goto(stand.ticket().address)
    await tone('connected')
    const display = stand.shown[0]
    assert.ok(display)
    await page.getByRole('button', { name: 'Ctrl-Alt-Del' }).click()
    await until('six strokes', () => display.keys.length === 6, PATIENCE_MS)
    assert.deepEqual(display.keys.splice(0), [
      [0xffe3, true],
      [0xffe9, true],
      [0xffff, true],
      [0xffff, false],
      [0xffe9, false],
      [0xffe3, false],
    ])
    await page.getByRole('button', { name: 'Clipboard', exact: true }).click()
    await page.getByLabel('Text for the guest').fill('Hi!')
    await page.getByRole('button', { name: 'Put in its clipboard' }).click()
    await until('the clipboard', () => display.clipboards.length === 1, PATIENCE_MS)
    assert.deepEqual(display.clipboards, ['Hi!'])
    await page.getByRole('button', { name: 'Type it' }).click()
    await until('ten strokes', () => display.keys.length === 10, PATIENCE_MS)
    const down = display.keys.filter(([, isDown]) => isDown).map(([key]) => key)
    assert.deepEqual(down, [0xffe1, 0x48, 0x69, 0xffe1, 0x21])
    display.copy('from the guest')
    await page.locator('#copy:enabled').waitFor()
    assert.equal(await page.getByLabel('Text copied in the guest').inputValue(), 'from the guest')

    await page.getByRole('button', { name: 'View only' }).click()
    display.keys.length = 0
    await page.getByRole('button', { name: 'Ctrl-Alt-Del' }).first().click()
    await page.keyboard.press('a')
    await page.getByRole('button', { name: 'View only' }).click()
    await page.getByRole('button', { name: 'Ctrl-Alt-Del' }).first().click()
    await until('six strokes again', () => display.keys.length >= 6, PATIENCE_MS)
    assert.equal(display.keys.length, 6, 'nothing was sent while only viewing')
  },
)

test(
  'the screen fits the window or is shown pixel by pixel, also on a phone and at double size',
  options,
  async () => {
    await using stand = await simulatedStand()
    for (const viewport of [
      { width: 320, height: 568 },
      { width: 640, height: 400 },
      { width: 1280, height: 800 },
    ]) {
      await using opened = await openPage({ viewport })
      const { page, tone, read } = opened
      await page.goto(stand.ticket().address)
      await tone('connected')
      assert.ok(Number(await read('document.documentElement.scrollWidth')) <= viewport.width)
      assert.ok(Number(await read('document.documentElement.scrollHeight')) <= viewport.height)
      const shown = 'document.querySelector("canvas").getBoundingClientRect().width'
      await until('the screen to fit', async () => Number(await read(shown)) > 200, PATIENCE_MS)
      await page.getByRole('button', { name: 'Fit to window' }).click()
      await until('dot for dot', async () => (await read(shown)) === 64, PATIENCE_MS)
      await page.locator('#clipboard').click()
      await page.locator('#keys').click()
      assert.ok(Number(await read('document.documentElement.scrollWidth')) <= viewport.width)
      const small = await read(`[...document.querySelectorAll('button')].filter((button) => {
        const { width, height } = button.getBoundingClientRect()
        return button.checkVisibility() && (width < 24 || height < 24)
      }).map(({ textContent }) => textContent)`)
      assert.deepEqual(small, [], 'large enough to hit')
    }
  },
)

test(
  'two hundred hostile names and clipboards appear as text and never as markup',
  options,
  async () => {
    await using stand = await simulatedStand()
    await using opened = await openPage()
    const { page, tone, read } = opened
    await page.goto(stand.ticket().address)
    await tone('connected')
    await read(`window.born = []; new MutationObserver((changes) => {
    for (const { addedNodes } of changes)
      for (const node of addedNodes) if (node.nodeType === 1) born.push(node.outerHTML)
  }).observe(document, { childList: true, subtree: true, attributes: true })`)
    const display = stand.shown[0]
    assert.ok(display && hostileTexts.length >= 200)
    for (const text of hostileTexts) {
      display.rename(text)
      display.copy(text)
    }
    display.rename('the end')
    display.copy('the end')
    await page.getByRole('heading', { name: 'the end' }).waitFor()
    await until(
      'the last clipboard',
      async () => {
        return (await page.locator('#copied').inputValue()) === 'the end'
      },
      PATIENCE_MS,
    )
    assert.deepEqual(await read('window.born'), [])
    assert.equal(await read('window.hit'), undefined)
  },
)
