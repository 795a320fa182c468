// Goal: a ticket leads to the screen of a VM in the browser, as rule 3 of the specification says, and is stored nowhere. Method:
// a lab with a host, a cell and two consoles with their own address; curl with the cloud's CA, and Chromium that trusts it; a
// real guest, whose own text is searched on the canvas.
import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { promisify } from 'node:util'

import { reasonToSkip, until } from '@skerry/lab'
import { attribute, childrenByLocalName } from '@skerry/xml'
import type { Page } from 'playwright-core'
import { WebSocket } from 'ws'

import { callerOf } from './cloud/curl.ts'
import { Ledger } from './cloud/links.ts'
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
import { startBrowser, type Browser } from './console/browser.ts'
import { linesBelow, ROOT } from './console/doc-lines.ts'
import { greetingAt } from './console/greeting.ts'
import {
  noticeOf,
  PATIENCE_MS,
  typeInto,
  untilSeen,
  untilState,
  type Guest,
} from './console/look.ts'

const skip = noCloud === false ? (reasonToSkip('browser') ?? false) : noCloud
const run = promisify(execFile)

let place: Place
let browser: Browser
let page: Page
let vm: string
let guest: Guest
const stack = new AsyncDisposableStack()
const tickets: string[] = []

function screens() {
  assert.ok(place.cloud.console)
  return place.cloud.console
}

interface Acquired {
  /** The text of the ticket, as scripts extract it from the document. */
  readonly ticket: string
  readonly wss: string
}

/** Logs in, finds running VMs, requests a ticket and logs out again, each by curl. */
async function acquire(): Promise<Acquired> {
  const caller = await callerOf(tenant(), '5.1')
  const where = '/api/query?type=vm&filter=status==POWERED_ON&fields=name,containerName'
  const [record] = childrenByLocalName((await caller.ask('GET', where)).root, 'VMRecord')
  assert.equal(attribute(record, 'href'), vm)
  const said = await caller.ask('POST', `${vm}/screen/action/acquireTicket`)
  assert.equal(said.status, 200, said.text)
  const cut = ['-F[<|>]', '/ScreenTicket/{print $3}']
  const ticket = execFileSync('awk', cut, { input: said.text, encoding: 'utf8' }).trim()
  assert.match(ticket, /^mks:\/\/[^/]+\/vm-[^?]+\?ticket=[^&]+$/)
  tickets.push(ticket.slice(ticket.indexOf('=') + 1))
  assert.equal((await caller.ask('DELETE', '/api/session')).status, 204)
  return { ticket, wss: attribute(said.root, 'wss') ?? '' }
}

/** Rule 3: the ticket's text, URL-encoded, after a question mark behind the page's address. */
const oneStep = ({ ticket }: Acquired): string => `${screens().page}?${encodeURIComponent(ticket)}`

suite('the console of a cloud', { skip }, () => {
  before(async () => {
    place = stack.use(await openPlace({ hosts: 1, cells: 1, console: true }))
    browser = stack.use(
      await startBrowser({ dir: join(place.lab.dir, 'browser'), ca: place.cloud.ca }),
    )
    const client = await logIn(tenant())
    const body = `<InstantiateVAppTemplateParams name="web" powerOn="true"><Source href="${tenant().template}"/></InstantiateVAppTemplateParams>`
    await new Ledger().act(client, tenant().vdc, 'add', body, 'instantiateVAppTemplate')
    const query = await client.get('/api/query?type=vm&fields=name')
    vm = attribute(childrenByLocalName(query, 'VMRecord')[0], 'href') ?? ''
    const { host, name } = await domainOf(vm)
    guest = { host, domain: name }
  })
  after(() => stack.disposeAsync())

  test('one address opens the screen without further input, also after logout', async (t) => {
    const acquired = await acquire()
    const { host } = new URL(acquired.ticket.replace('mks:', 'https:'))
    assert.equal(host, new URL(screens().url).host)
    assert.notEqual(new URL(screens().url).hostname, new URL(place.cloud.url).hostname)
    page = await browser.open(oneStep(acquired))
    await untilState(page, 'Connected')
    assert.equal(page.url(), screens().page, 'the ticket was removed from the address bar')
    const alike = await untilSeen(page, guest, /guest up in [\d.]+s/, BOOT_MS)
    t.diagnostic(`canvas and libvirt's screenshot match by ${(alike * 100).toFixed(1)} %`)
  })

  test('a typed command is executed by the guest and its output is shown', async () => {
    await typeInto(page, 'echo "It is $((6*7)) & more" | tee /tmp/said\n')
    const domain = { host: guest.host, name: guest.domain }
    const said = async () => (await inGuest(domain, 'cat /tmp/said')) === 'It is 42 & more'
    await until('the guest executed it', said, PATIENCE_MS)
    await untilSeen(page, guest, /^It is 42 & more *$/m)
  })

  test('the web UI shows the screen beside its pages, the guest executes what is typed, and no policy is violated', async () => {
    const { user, org, password } = tenant()
    const faults: string[] = []
    const ui = await browser.context.newPage()
    ui.on('pageerror', (error) => faults.push(error.message))
    ui.on('console', (message) => {
      if (/Content Security Policy|Trusted/i.test(message.text())) faults.push(message.text())
    })
    ui.on('websocket', (socket) => {
      tickets.push(new URL(socket.url()).searchParams.get('ticket') ?? '')
    })
    await ui.goto(`${place.cloud.url}/ui/login`)
    await ui.getByLabel('User').fill(`${user}@${org}`)
    await ui.getByLabel('Password').fill(password)
    await ui.getByRole('button', { name: 'Log in', exact: true }).click()
    await ui
      .getByRole('button', { name: /^Console of/ })
      .first()
      .click()
    const dock = ui.getByRole('complementary', { name: 'Console', exact: true })
    const connected = dock.getByRole('status').getByText('Connected', { exact: true })
    await connected.waitFor({ timeout: PATIENCE_MS })
    await typeInto(ui, 'echo docked | tee /tmp/docked\n')
    const domain = { host: guest.host, name: guest.domain }
    const said = async () => (await inGuest(domain, 'cat /tmp/docked')) === 'docked'
    await until('the guest executed it', said, PATIENCE_MS)
    await untilSeen(ui, guest, /^docked *$/m)
    await ui.getByRole('link', { name: 'Tasks' }).first().click()
    await ui.waitForURL('**/ui/tasks')
    await untilSeen(ui, guest, /^docked *$/m)
    assert.deepEqual(faults, [])
    await ui.close()
  })

  test('a client that is not a browser can do the same, at the address beside the ticket', async () => {
    const { wss } = await acquire()
    const ca = await readFile(place.cloud.ca, 'utf8')
    assert.equal(await greetingAt(wss, ca), 'RFB 003.008\n')
    const again = new WebSocket(wss, { ca })
    const [status] = await new Promise<readonly [number | undefined]>((resolve) => {
      again.once('unexpected-response', (_request, { statusCode }) => resolve([statusCode]))
      again.once('error', () => undefined)
    })
    assert.equal(status, 403)
  })

  test('the screen of a cloud VM is not available at the local API', async () => {
    const [, id = ''] = /vm-([0-9a-f-]{36})$/.exec(vm) ?? []
    for (const name of [id, guest.domain, `vm-${id}`]) {
      const at = `http://127.0.0.1:8080/api/vms/${name}/screen`
      const words = ['curl', '-s', '-o', '/dev/null', '-w', '%{http_code}', '-X', 'POST', at]
      assert.equal((await guest.host.run(words)).stdout, '404', name)
    }
  })

  test('loading the page makes no request to other servers and leaks no ticket', async (t) => {
    const acquired = await acquire()
    const [, secret = ''] = acquired.ticket.split('ticket=')
    const loaded = await browser.context.newPage()
    const requested: { readonly url: string; readonly referer: string }[] = []
    const faults: string[] = []
    loaded.on('request', (request) => {
      requested.push({ url: request.url(), referer: request.headers()['referer'] ?? '' })
    })
    loaded.on('websocket', (socket) => requested.push({ url: socket.url(), referer: '' }))
    loaded.on('console', (message) => {
      if (message.type() === 'error') faults.push(message.text())
    })
    await loaded.goto(oneStep(acquired))
    await untilState(loaded, 'Connected')
    const { host } = new URL(screens().url)
    for (const { url, referer } of requested) {
      assert.equal(new URL(url).host, host, url)
      assert.equal(referer, '', url)
    }
    const withTicket = requested.filter(({ url }) => url.includes(secret))
    assert.deepEqual(
      withTicket.map(({ url }) => new URL(url).protocol),
      ['https:', 'wss:'],
    )
    assert.deepEqual(faults, [], 'nothing violated the page’s own policy')
    const devtools = await browser.context.newCDPSession(loaded)
    const { entries } = await devtools.send('Page.getNavigationHistory')
    assert.ok(entries.length > 0)
    for (const { url } of entries) assert.ok(!url.includes('ticket'), url)
    await loaded.reload()
    await untilState(loaded, 'Ticket used')
    assert.match(await noticeOf(loaded), /ticket was used[^]*acquireTicket/)
    await loaded.close()
    t.diagnostic(`${requested.length} requests, all to ${host}, none with a Referer`)
  })

  test('a used ticket opens nothing, and the page shows the next step', async () => {
    const acquired = await acquire()
    const first = await browser.open(oneStep(acquired))
    await untilState(first, 'Connected')
    const second = await browser.open(oneStep(acquired))
    await untilState(second, 'Not opened')
    assert.match(await noticeOf(second), /was used, is older than 30 seconds[^]*new ticket/)
    await untilState(first, 'Connected')
    for (const each of [first, second]) await each.close()
  })

  test('kill -9 of the consoles: the page shows it, and a new ticket opens the screen again', async () => {
    for (const each of screens().consoles) await each.kill()
    await untilState(page, 'Connection lost')
    assert.match(await noticeOf(page), /The VM keeps running[^]*new ticket/)
    for (const each of screens().consoles) await each.start()
    await page.goto(oneStep(await acquire()))
    await untilState(page, 'Connected')
    await untilSeen(page, guest, /It is 42/)
  })

  test('the VM is powered off by the API, and the page shows it', async () => {
    const caller = await callerOf(tenant(), '5.1')
    const said = await caller.ask('POST', `${vm}/power/action/powerOff`)
    assert.equal(said.status, 202, said.text)
    await untilState(page, 'Powered off')
    assert.match(await noticeOf(page), /Power it on[^]*new ticket/)
  })

  test('no ticket is in any file of the servers: no log, no database', async (t) => {
    await browser[Symbol.asyncDispose]()
    for (const ticket of tickets) {
      const grep = run('grep', ['-rlaF', '--exclude-dir=browser', ticket, place.lab.dir])
      const files = await grep.then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      )
      assert.equal(files, '')
    }
    t.diagnostic(`${tickets.length} tickets were looked for`)
  })

  test('every line for a cloud in docs/guides/console.md works as described', async () => {
    const json = join(place.lab.dir, 'report.json')
    const home = join(place.lab.dir, 'browser', 'another-home')
    // The lab is already up and is used as it is; the CAs belong to no real browser.
    const here = (block: string) =>
      block
        .replaceAll('/tmp/lab.json', json)
        .replaceAll('/tmp/lab', place.lab.dir)
        .replaceAll(/~|\$HOME/g, home)
    const blocks = (await linesBelow('A VM in a cloud')).map(here)
    const script = ['set -euo pipefail', ...blocks].join('\n')
    const { stdout } = await run('bash', ['-c', script], { cwd: ROOT, timeout: BOOT_MS })
    const { page: address, url } = screens()
    assert.match(stdout, new RegExp(`^${address}\\?mks%3A%2F%2F${new URL(url).hostname}%3A`, 'm'))
    assert.match(stdout, /^RFB 003\.008$/m)
    assert.match(stdout, /"hosts": \[\]/, 'the lab was removed')
  })
})
