// Goal: a person uses the web UI of one machine by keyboard, and no other web page can. Method: vmd on a lab host with a real guest,
// Chromium in that host's network.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'
import type { Page } from 'playwright-core'

import { startBrowser, type Browser } from '../accept/console/browser.ts'
import { BASE, curlOn } from '../accept/curl.ts'
import { startVmdPlace, type VmdPlace } from '../accept/vmd-place.ts'
import { machinePages, unvisited } from './addresses.ts'
import { findViolations, openAxe } from './axe.ts'
import { hostilePage } from './hostile-page.ts'
import { inPage } from './in-page.ts'

const skip = reasonToSkip('host', 'small', 'browser') ?? false
const BOOT_MS = 120_000
const HEIGHT = 900
const PROGRAM = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const VMD = join(import.meta.dirname, '../../apps/vmd/src/main.ts')

const stack = new AsyncDisposableStack()
let place: VmdPlace
let browser: Browser
const problems: string[] = []
const host = () => place.host
const { curl, get, post, patch } = curlOn(host)

async function open(path: string): Promise<Page> {
  const page = await browser.context.newPage()
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) problems.push(message.text())
  })
  await page.setViewportSize({ width: 1440, height: HEIGHT })
  await page.goto(`${BASE}${path}`)
  return page
}

/** The name of the element that has the focus. */
const FOCUSED = `(({ ariaLabel, labels, textContent }) =>
  ariaLabel ?? labels?.[0]?.textContent ?? textContent ?? '')(document.activeElement)`

/** Moves the focus by the Tab key, as far as a person would go. */
async function tabTo(page: Page, name: string): Promise<void> {
  const shown = page.getByText(name, { exact: true }).or(page.getByLabel(name, { exact: true }))
  await shown.filter({ visible: true }).first().waitFor()
  for (let presses = 0; presses < 80; presses++) {
    await page.keyboard.press('Tab')
    const focused = (await page.evaluate(FOCUSED)) as string
    if (focused.trim() === name) return
  }
  assert.fail(`the Tab key does not reach ${name}`)
}

/** Runs a command by its name. */
async function runCommand(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.getByPlaceholder('Name of a VM, a page or a command').waitFor()
  await page.keyboard.type(name)
  // Before the list is filtered, another command is highlighted.
  await page.locator('[role=option][data-highlighted]').getByText(name, { exact: true }).waitFor()
  await page.keyboard.press('Enter')
}

/**
 * Sites of an attacker on this machine. Chromium itself forbids requests to this machine from a page that comes from elsewhere, or
 * that a test makes up; those of a real server here reach vmd.
 */
const hostileSites = [
  'http://evil.localhost:9999',
  'http://127.0.0.1:9999',
  'http://localhost:8081',
]

async function startHostileSites(): Promise<void> {
  const program = `for (const port of [9999, 8081])
    require('node:http').createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end(process.env.PAGE)
    }).listen(port, '127.0.0.1')`
  const sites = host().spawn([process.execPath, '-e', program], {
    stdio: 'ignore',
    env: { PAGE: hostilePage },
  })
  stack.defer(() => void sites.kill('SIGKILL'))
  const answers = (port: number) =>
    curl(`http://127.0.0.1:${port}/`).then(
      ({ status }) => status === 200,
      () => false,
    )
  await until('the sites answer', async () => (await answers(9999)) && answers(8081), BOOT_MS)
}

/** The ways of the page whose answers the browser shows to the test: fetch without CORS, twice, the beacon and the form. */
const SHOWN_ANSWERS = 4

/** Lets a hostile page try everything. It reads nothing, and vmd refuses all of it. */
async function attackFrom(page: Page, site: string): Promise<void> {
  // Responses to a page of ours that was shown before are none of its.
  await page.goto('about:blank')
  const statuses: number[] = []
  page.on('response', (response) => {
    if (response.url().startsWith(BASE)) statuses.push(response.status())
  })
  await page.goto(`${site}/`)
  await page.getByText('tried').waitFor()
  assert.deepEqual(await page.evaluate('window.read'), [], site)
  await until(`vmd answers ${site}`, () => statuses.length >= SHOWN_ANSWERS, BOOT_MS)
  assert.deepEqual(new Set(statuses), new Set([403]), site)
}

const ids = async () => (await get('/api/vms')).body as readonly string[]

suite('the web UI of one machine', { skip }, () => {
  before(async () => {
    place = stack.use(await startVmdPlace())
    browser = stack.use(
      await startBrowser({ dir: join(place.dir, 'browser'), netns: host().netns }),
    )
  })
  after(() => stack.disposeAsync())

  test('a VM is created, started, kept in a snapshot, forwarded to, and deleted by keyboard', async () => {
    const page = await open('/ui/')
    await page.getByRole('heading', { name: 'No VMs yet' }).waitFor()
    await page.keyboard.press('c')
    await page.getByRole('heading', { name: 'Create VM' }).waitFor()
    await tabTo(page, 'Name')
    await page.keyboard.type('web-1')
    await tabTo(page, 'Memory (MiB)')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('192')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'web-1' }).waitFor()
    const state = page.locator('main').getByText('On', { exact: true })
    await state.waitFor({ timeout: BOOT_MS })

    await runCommand(page, 'Take snapshot')
    const dialog = page.getByRole('dialog', { name: 'Take snapshot: web-1' })
    await dialog.waitFor()
    await tabTo(page, 'Name')
    await page.keyboard.press('Control+a')
    await page.keyboard.type('fresh')
    await page.keyboard.press('Enter')
    // While it is open, the focus stays in it.
    await dialog.waitFor({ state: 'detached' })
    await tabTo(page, 'Overview')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await page.locator('td').getByText('fresh', { exact: true }).waitFor({ timeout: BOOT_MS })

    await tabTo(page, 'Snapshots1')
    for (const _ of [1, 2, 3]) await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Port of this machine')
    await page.keyboard.type('18080')
    await tabTo(page, 'Port of the guest')
    await page.keyboard.type('22')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: '127.0.0.1:18080' }).waitFor()
    const [forward] = (await get('/api/vms/web-1/forwards')).body as readonly object[]
    assert.deepEqual(forward, {
      hostAddress: '127.0.0.1',
      hostPort: 18080,
      guestPort: 22,
      protocol: 'tcp',
      listening: true,
    })

    await runCommand(page, 'Power off')
    await page.getByRole('alertdialog').waitFor()
    await tabTo(page, 'Power off')
    await page.keyboard.press('Enter')
    await page.locator('main').getByText('Off', { exact: true }).waitFor({ timeout: BOOT_MS })
    await runCommand(page, 'Delete')
    await page.getByRole('alertdialog').waitFor()
    await tabTo(page, 'Delete')
    await page.keyboard.press('Enter')
    await until('the VM is deleted', async () => (await ids()).length === 0, BOOT_MS)
    await page.getByRole('heading', { name: 'Not found' }).waitFor()
    await page.getByRole('alertdialog').waitFor({ state: 'detached' })
    await page.keyboard.press('g')
    await page.keyboard.press('v')
    await page.getByRole('heading', { name: 'No VMs yet' }).waitFor()
    await page.close()
  })

  test('what others change is shown without a reload, and actions that wait have a reason', async () => {
    const page = await open('/ui/vms')
    await page.getByRole('heading', { name: 'No VMs yet' }).waitFor()
    assert.equal((await post('/api/vms', { id: 'kept', memoryMiB: 192 })).status, 201)
    await page.getByRole('link', { name: 'kept' }).waitFor()
    await page.getByRole('button', { name: 'Actions of kept' }).click()
    const reset = page.getByRole('menuitem', { name: /^Reset/ })
    assert.equal(await reset.getAttribute('aria-disabled'), 'true')
    await page.getByText('it is off; this needs it on or paused').first().waitFor()
    await page.keyboard.press('Escape')
    assert.equal((await patch('/api/vms/power/kept', 'on')).status, 200)
    await page.getByRole('row', { name: /On.*kept/ }).waitFor({ timeout: BOOT_MS })
    await page.goto(`${BASE}/ui/vms/named/kept`)
    await page.getByRole('heading', { name: 'kept' }).waitFor()
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await page.goto(`${BASE}/ui/vms/kept?tab=log`)
    await page.getByRole('log').getByText('guest up').waitFor({ timeout: BOOT_MS })
    await page.close()
  })

  test('folders, templates and checks of the machine are shown, and a page of a cloud says that it is none', async () => {
    const page = await open('/ui/vms/kept?tab=folders')
    await page.getByRole('button', { name: 'Turn sharing on' }).click()
    await page.getByText('Sharing is on').waitFor({ timeout: BOOT_MS })
    await page.getByLabel('Name in the guest').fill('docs')
    await page.getByLabel('Directory of this machine').fill(place.dir)
    await page.getByRole('button', { name: 'Share folder' }).click()
    await page.getByRole('cell', { name: '/mnt/shares/docs' }).waitFor()
    await page.goto(`${BASE}/ui/templates`)
    await page.getByRole('cell', { name: 'default', exact: true }).waitFor()
    await page.goto(`${BASE}/ui/machine`)
    await page.getByRole('cell', { name: 'template default' }).waitFor()
    await page.getByRole('cell', { name: 'vmd', exact: true }).waitFor()
    for (const path of ['/vapps', '/admin/orgs', '/org', '/templates/x']) {
      await page.goto(`${BASE}/ui${path}`)
      await page
        .getByRole('heading', { name: 'A single machine does not have this page' })
        .waitFor()
    }
    await page.close()
  })

  test('several VMs are started, powered off and deleted with an outcome for each, and one is previewed and cloned', async () => {
    for (const id of ['many-1', 'many-2']) {
      assert.equal((await post('/api/vms', { id, memoryMiB: 192 })).status, 201)
    }
    const page = await open('/ui/vms?q=many')
    await page.getByRole('link', { name: 'many-2' }).waitFor()
    const doWithAll = async (name: string, count: number): Promise<void> => {
      await page.getByRole('grid').focus()
      await page.keyboard.press('Home')
      await page.keyboard.press('x')
      await page.getByRole('button', { name: /^Select all/ }).click()
      const button = { name: new RegExp(`^${name}`) }
      await page.getByRole('toolbar').getByRole('button', button).click()
      await page.getByRole('alertdialog').getByRole('button', button).click()
      const outcomes = page.getByRole('dialog', { name: `${name}: ${count} VMs` })
      await outcomes.getByText('Done for all of them.').waitFor({ timeout: BOOT_MS })
      const done = outcomes.getByRole('cell', { name: 'Done' })
      await done.nth(count - 1).waitFor()
      assert.equal(await done.count(), count)
      await outcomes.getByRole('button', { name: 'Close' }).click()
      // A dialog that closes gives the focus back.
      await outcomes.waitFor({ state: 'detached' })
    }
    await doWithAll('Start', 2)
    await page.getByRole('row', { name: /On.*many-2/ }).waitFor()
    await page.getByRole('grid').focus()
    await page.keyboard.press('Home')
    await page.keyboard.press('Space')
    await page.getByRole('complementary', { name: 'Preview of many-1' }).waitFor()
    await page.keyboard.press('.')
    await page.getByRole('menuitem', { name: 'Clone' }).click()
    const clone = page.getByRole('dialog', { name: 'Clone: many-1' })
    await clone.getByLabel('Name').fill('power')
    const send = clone.getByRole('button', { name: 'Clone' })
    assert.equal(await send.getAttribute('aria-disabled'), 'true')
    await clone.getByLabel('Name').fill('many-3')
    await send.click()
    await page.getByRole('row', { name: /Off.*many-3/ }).waitFor({ timeout: BOOT_MS })
    await doWithAll('Power off', 2)
    await page.getByRole('row', { name: /Off.*many-1/ }).waitFor()
    await doWithAll('Delete', 3)
    assert.deepEqual(await ids(), ['kept'])
    await page.close()
  })

  test('pages of the machine have no violations, in both themes, at 1440 and 390 pixels', async () => {
    const page = await open('/ui/')
    await page.addInitScript({ content: inPage('probe') })
    const found: string[] = []
    for (const path of machinePages) {
      await page.goto(`${BASE}/ui${path}`)
      const session = await openAxe(page)
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: HEIGHT })
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
          await page.evaluate('probe.settled()')
          const violations = await findViolations(session, colorScheme)
          found.push(...violations.map((each) => `${path} ${width} ${colorScheme} ${each}`))
        }
      }
    }
    assert.deepEqual(found, [])
    await page.close()
  })

  test('longer words and text from right to left are readable on pages of the machine', async () => {
    const page = await open('/ui/')
    await page.addInitScript({ content: `${inPage('probe')};${inPage('readability')}` })
    const found: string[] = []
    for (const path of machinePages) {
      for (const width of [1440, 390]) {
        await page.setViewportSize({ width, height: HEIGHT })
        await page.goto(`${BASE}/ui${path}`)
        for (const direction of ['ltr', 'rtl']) {
          await page.evaluate(`document.documentElement.dir = '${direction}'`)
          await page.evaluate('probe.settled()')
          if (direction === 'ltr') await page.evaluate('readability.lengthenWords()')
          const unreadable = await page.evaluate<string[]>('readability.findUnreadable()')
          found.push(...unreadable.map((text) => `${path} ${width} ${direction} ${text}`))
        }
      }
    }
    assert.deepEqual(found, [])
    await page.close()
  })

  test('every address of a machine is visited', () => {
    assert.deepEqual(unvisited('machine', machinePages), [])
  })

  test('a hostile page, of another site or of another port of this machine, changes and reads nothing', async () => {
    await startHostileSites()
    for (const site of hostileSites) {
      const page = await browser.context.newPage()
      await attackFrom(page, site)
      await page.close()
    }
    assert.deepEqual(await ids(), ['kept'])
    assert.equal(
      ((await get('/api/vms/power/kept')).body as { message: string }).message,
      'powered on',
    )
  })

  test('with a token only the ticket of skerry ui opens the page, once', async () => {
    await host().killVmd('SIGTERM')
    const [file, word] = [join(place.dir, 'token'), 'a-word-of-our-own-choice']
    await writeFile(file, word, { mode: 0o600 })
    const vmd = host().spawn([process.execPath, VMD, '--token-file', file], {
      stdio: 'ignore',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    })
    stack.defer(() => void vmd.kill('SIGKILL'))
    const env = { PATH: process.env['PATH'], SKERRY_TOKEN: word }
    const skerry = (...words: string[]) => host().run([PROGRAM, ...words], { env })
    await until('vmd answers', async () => (await skerry('list')).code === 0, BOOT_MS)
    const bare = await open('/ui/vms')
    await bare.getByText('This page needs a session').waitFor()
    await bare.close()

    const address = (await skerry('ui', '--print')).stdout.trim()
    assert.match(address, /^http:\/\/127\.0\.0\.1:8080\/ui\/#ticket=[\w-]{43}$/)
    const page = await open(address.slice(BASE.length))
    await page.getByRole('link', { name: 'kept' }).waitFor()
    assert.equal(page.url(), `${BASE}/ui/vms`)
    assert.equal(await page.evaluate('document.cookie'), '')
    const [cookie] = await browser.context.cookies()
    assert.deepEqual([cookie?.httpOnly, cookie?.sameSite], [true, 'Strict'])
    await page.reload()
    await page.getByRole('link', { name: 'kept' }).waitFor()
    // The cookie is sent to every port of this machine; a page there still has no use of it.
    await attackFrom(page, 'http://127.0.0.1:9999')
    assert.equal((await skerry('list')).stdout.includes('planted'), false)

    await browser.context.clearCookies()
    const again = await open(address.slice(BASE.length))
    await again.getByText('This page needs a session').waitFor()
    await again.close()
    await page.close()
  })

  test('no page violated its policy or threw an error', () => {
    assert.deepEqual(problems, [])
  })
})
