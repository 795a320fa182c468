// Goal: a person uses a cloud by its web UI, with the keyboard alone, and loses nothing when a cell dies or a session ends; a page of
// another origin achieves nothing. Method: Chromium at the public address of a lab with two cells, PostgreSQL, a host and a real guest.
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'
import type { Page } from 'playwright-core'

import { taskOf, type CloudClient, type Reply } from '../../apps/cloud/test/cloud-client.ts'
import { startBrowser, type WebBrowser } from '../web/browser.ts'
import { inPage } from '../web/in-page.ts'
import {
  BOOT_MS,
  domainOf,
  inGuest,
  logIn,
  openPlace,
  skip as noCloud,
  tenant,
  type Place,
} from './cloud/place.ts'
import { PATIENCE_MS, typeKeys, untilSeen } from './console/look.ts'
import { startHostileSite } from './web/hostile-site.ts'
import { enter, press, runAndConfirm, runCommand, tabTo } from './web/keys.ts'

const skip = noCloud === false ? (reasonToSkip('browser') ?? false) : noCloud
const stack = new AsyncDisposableStack()
let place: Place
let browser: WebBrowser
let page: Page
let client: CloudClient

const inDatabase = async (question: string): Promise<string> =>
  (await place.cloud.postgres.psql(question, 'cloud')).trim()

/** What a hostile page could want to change. */
const readRows = (): Promise<string> =>
  inDatabase(`select json_agg(row) from (
    select 'vm', id::text, name, status, desired_power, deleted_at::text from vm
    union all select 'vapp', id::text, name, owner, '', deleted_at::text from vapp
    union all select 'task', id::text, operation, state, '', '' from task
    union all select 'session', encode(token_hash, 'hex'), '', '', '', '' from session
    union all select 'account', id::text, name, '', '', '' from account
    union all select 'token', count(*)::text, '', '', '', '' from access_token
    order by 1, 2) row`)

const heading = (name: string) => page.getByRole('heading', { name, exact: true, level: 1 })
/** Waits until the page of a VM shows this state. */
const untilPower = (word: 'On' | 'Off') =>
  page
    .getByTitle(/^The VM is /)
    .getByText(word, { exact: true })
    .waitFor({ timeout: PATIENCE_MS })

async function logInByKeyboard(): Promise<void> {
  const { user, org, password } = tenant()
  await enter(page, page.getByLabel('User'), `${user}@${org}`)
  await enter(page, page.getByLabel('Password'), password)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /^Virtual machines/ }).waitFor()
}

/** Fills in the form for a VM that stays off. */
async function fillInForm(name: string): Promise<void> {
  await page.getByRole('radio', { name: /small/ }).waitFor()
  await enter(page, page.getByLabel('Name'), name)
  await press(page, page.getByLabel('Start the VM after creation'), 'Space')
}

/** Opens the screen of the VM beside the page; it gets the keyboard. */
async function openScreen(): Promise<void> {
  await runCommand(page, 'Console')
  const dock = page.getByRole('complementary', { name: 'Console', exact: true })
  const state = dock.getByRole('status').getByText('Connected', { exact: true })
  await state.waitFor({ timeout: PATIENCE_MS })
  await dock.locator('canvas:focus').waitFor()
}

async function succeed(asked: Reply): Promise<void> {
  assert.ok(asked.status === 201 || asked.status === 202, asked.text)
  const task = await client.ended(taskOf(asked.root), BOOT_MS)
  assert.equal(attribute(task, 'status'), 'success', JSON.stringify(task))
}

suite('the web UI of a cloud', { skip }, () => {
  before(async () => {
    place = stack.use(await openPlace({ hosts: 1, cells: 2, console: true }))
    const { url } = place.cloud
    browser = stack.use(await startBrowser({ url, password: tenant().password, isUntrusted: true }))
    client = await logIn(tenant())
    page = await browser.open({ user: '', path: '/vms' })
  })
  after(() => stack.disposeAsync())

  test('by keyboard alone: log in, create a VM, start it, type into it, take a snapshot, power it off, delete it', async (t) => {
    const began = performance.now()
    const said = (what: string) =>
      t.diagnostic(`${what} after ${Math.round(performance.now() - began)} ms`)
    await logInByKeyboard()
    await page.keyboard.press('c')
    await fillInForm('typed-1')
    await press(page, page.getByRole('button', { name: 'Create VM' }))
    await heading('typed-1').waitFor()
    await untilPower('Off')
    said('created')
    const vm = new URL(page.url()).pathname.replace('/ui/vms/', '/api/vApp/')
    await runCommand(page, 'Start')
    await untilPower('On')
    said('started')

    const domain = await domainOf(vm)
    const guest = { host: domain.host, domain: domain.name }
    assert.match(await inGuest(domain, 'echo up'), /up/)
    await openScreen()
    await untilSeen(page, guest, /guest up in [\d.]+s/, BOOT_MS)
    await typeKeys(page, 'echo "typed $((6*7))" | tee /tmp/said\n')
    const isSaid = async () => (await inGuest(domain, 'cat /tmp/said')) === 'typed 42'
    await until('the guest executed what was typed', isSaid, PATIENCE_MS)
    await untilSeen(page, guest, /^typed 42 *$/m)
    // Every other key would go to the guest.
    await page.keyboard.press('Control+Alt+Home')
    said('typed into')

    await runCommand(page, 'Take snapshot')
    const dialog = page.getByRole('dialog', { name: /^Take snapshot/ })
    await enter(page, dialog.getByLabel('Name'), 'by-keyboard')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    await page.getByText('by-keyboard').first().waitFor({ timeout: PATIENCE_MS })
    const snapshots = await domain.host.run(['virsh', 'snapshot-list', '--name', domain.name])
    const taken = await inDatabase(`select snapshot from vm where snapshot_name = 'by-keyboard'`)
    assert.match(taken, /^[\da-f-]{36}$/)
    assert.equal(snapshots.stdout.trim(), taken)
    said('snapshotted')

    await runAndConfirm(page, 'Power off')
    await untilPower('Off')
    await runAndConfirm(page, 'Delete')
    const isGone = async () =>
      (await inDatabase(
        `select count(*) from vm where name = 'typed-1' and deleted_at is null`,
      )) === '0'
    await until('the VM is deleted', isGone, PATIENCE_MS)
    said('deleted')
  })

  test('a session that ends in the middle of a form asks for the password in place, and the form is complete', async () => {
    await page.goto(`${place.cloud.url}/ui/vms/new`)
    await fillInForm('half-filled')
    await enter(page, page.getByLabel('SSH key'), 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHalf me')
    const create = page.getByRole('button', { name: 'Create VM', disabled: false })
    await tabTo(page, create)
    await inDatabase('delete from session')
    // The event stream may notice it first: then the dialog gets this key, and does nothing without a password.
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' })
    await enter(page, dialog.getByLabel('Password'), tenant().password)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await page.getByLabel('Name').inputValue(), 'half-filled')
    assert.match(await page.getByLabel('SSH key').inputValue(), /IHalf me$/)
    assert.equal(await page.getByLabel('Start the VM after creation').isChecked(), false)
    assert.equal(await inDatabase(`select count(*) from vm where name = 'half-filled'`), '0')
    await press(page, page.getByRole('button', { name: 'Create VM' }))
    await heading('half-filled').waitFor()
    await untilPower('Off')
    client = await logIn(tenant())
  })

  test('a page of another origin, or of another port of the same host, reads and changes nothing', async (t) => {
    await using site = await startHostileSite()
    const cloud = place.cloud.url
    const query = await client.get('/api/query?type=vm&filter=name==half-filled')
    const vm = attribute(childrenByLocalName(query, 'VMRecord')[0], 'href') ?? ''
    const screens = place.cloud.console?.url.replace('https', 'wss') ?? assert.fail('no console')
    const console = `${screens}/screen/${vm.split('/').at(-1)}`
    const compose = `${tenant().vdc}/action/composeVApp`
    // The page shows a new VM as off before its task has ended.
    const running = `select count(*) from task where state in ('queued', 'running')`
    await until('no task runs', async () => (await inDatabase(running)) === '0', PATIENCE_MS)
    // The cookie of the user goes along to another port of the host: ports are of the same site.
    for (const host of ['localhost', '127.0.0.1']) {
      const before = await readRows()
      const hostile = await page.context().newPage()
      let sent = 0
      hostile.on('request', (request) => (sent += request.url().startsWith(cloud) ? 1 : 0))
      await hostile.goto(`https://${host}:${site.port}/`)
      await hostile.evaluate(inPage('hostile'))
      const targets = JSON.stringify({ cloud, vm, compose, console })
      const achieved = await hostile.evaluate<string[]>(`hostile.attack(${targets})`)
      assert.deepEqual(achieved, [], host)
      assert.equal(await readRows(), before, host)
      await hostile.close()
      assert.ok(sent > 20)
      t.diagnostic(`${host}: ${sent} requests read and changed nothing`)
    }
    await page.reload()
    await heading('half-filled').waitFor()
  })

  test('cells die under the page while VMs change: it shows every final state, without a reload', async (t) => {
    await page.goto(`${place.cloud.url}/ui/vms`)
    await page.getByRole('link', { name: 'half-filled' }).waitFor()
    await page.evaluate('window.isSame = true')
    const [one, two] = place.cloud.cells
    assert.ok(one && two)
    // One after the other, so that the cell with the event stream of the page is among them.
    for (const [number, [dying, other]] of [[one, two] as const, [two, one] as const].entries()) {
      const began = await client.at(dying.url).instantiate(`begun-${number}`, { power: false })
      await dying.kill()
      const at = client.at(other.url)
      const made = await at.instantiate(`made-${number}`, { power: number === 0 })
      const gone = await at.instantiate(`gone-${number}`, { power: false })
      client = at
      for (const each of [began, made, gone]) await succeed(each)
      await succeed(await at.ask('DELETE', attribute(gone.root, 'href') ?? ''))
      await untilShown(t)
      await dying.start()
    }
    assert.equal(await page.evaluate('window.isSame'), true)
  })

  test('no page violates its policy or throws an error', () => {
    assert.deepEqual(browser.problems, [])
  })
})

const words: Readonly<Record<string, string>> = { POWERED_ON: 'On', POWERED_OFF: 'Off' }

/** Waits until the list of the page is what the database has. */
async function untilShown(t: { diagnostic(text: string): void }): Promise<void> {
  const rows = await inDatabase(`select vapp.name || ' ' || displayed_status
    from vm join vapp on vapp.id = vm.vapp where vm.deleted_at is null`)
  const wanted = rows
    .split('\n')
    .map((row) => row.replace(/\w+$/, (status) => words[status] ?? status))
    .toSorted()
  let shown: string[] = []
  const isShown = async (): Promise<boolean> => {
    const texts = await page.getByRole('row').allInnerTexts()
    shown = texts
      .slice(1)
      .map((text) => text.split('\n').filter((each) => each.trim() !== ''))
      .map(([power, , vapp]) => `${vapp} ${power}`)
      .toSorted()
    return shown.join('\n') === wanted.join('\n')
  }
  const began = performance.now()
  await until('the page shows the final states', isShown, PATIENCE_MS).catch((error: unknown) => {
    assert.deepEqual(shown, wanted)
    throw error
  })
  t.diagnostic(`every final state is shown ${Math.round(performance.now() - began)} ms later`)
  await page.getByText('No running tasks').waitFor()
  // The list may be read before the event stream is open again.
  await page.getByText('The cloud does not answer').first().waitFor({ state: 'hidden' })
}
