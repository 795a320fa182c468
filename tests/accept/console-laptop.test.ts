// Goal: the screen of a local VM in a browser: shown, typed into, closed with the reason, and shown to no one else. Method: vmd
// on a lab host with a real guest; Chromium in that host's network; the canvas is compared with libvirt's screenshot and with the
// text that the guest's kernel has on its terminal.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { after, before, suite, test } from 'node:test'

import { reasonToSkip, until } from '@skerry/lab'
import type { Page } from 'playwright-core'

import { startBrowser, type Browser } from './console/browser.ts'
import { linesBelow } from './console/doc-lines.ts'
import {
  noticeOf,
  PATIENCE_MS,
  typeInto,
  untilSeen,
  untilState,
  type Guest,
} from './console/look.ts'
import { curlOn } from './curl.ts'
import { sendRaw, tally } from './hostile.ts'
import { inGuest } from './in-guest.ts'
import { startVmdPlace, type VmdPlace } from './vmd-place.ts'

const skip = reasonToSkip('host', 'small', 'browser') ?? false
const BOOT_MS = 120_000
const STRANGER = 54_321
const PROGRAM = join(import.meta.dirname, '../../apps/cli/bin/skerry')
const OWN = 'http://127.0.0.1:8080'

let place: VmdPlace
let browser: Browser
let page: Page
const stack = new AsyncDisposableStack()
const host = () => place.host
const { get, post, patch } = curlOn(host)
const guest = (): Guest => ({ host: host(), domain: 'local-vm-1' })

/** A handshake as bytes, with these lines. */
const handshake = (lines: string, path = '/console/vm-1/screen'): string =>
  `GET ${path} HTTP/1.1\r\n${lines}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`

async function address(id = 'vm-1'): Promise<string> {
  const { code, stdout, stderr } = await host().run([PROGRAM, 'console', id, '--json'])
  assert.equal(code, 0, stderr)
  return (JSON.parse(stdout) as { address: string }).address
}

suite('the console of a laptop', { skip }, () => {
  before(async () => {
    place = stack.use(await startVmdPlace())
    browser = stack.use(
      await startBrowser({ dir: join(place.dir, 'browser'), netns: host().netns }),
    )
    assert.equal((await post('/api/vms', { id: 'vm-1' })).status, 201)
  })
  after(() => stack.disposeAsync())

  test('for a VM that is off the page shows that, and how to turn it on', async () => {
    assert.equal(await address(), `${OWN}/console/vm-1`)
    page = await browser.open(await address())
    await untilState(page, 'Powered off')
    assert.match(await noticeOf(page), /powered off[^]*skerry start/)
    const unknown = await browser.open(`${OWN}/console/nobody`)
    await untilState(unknown, 'No such VM')
    await unknown.close()
  })

  test('it is turned on, and its text appears on the canvas without further input', async (t) => {
    assert.equal((await patch('/api/vms/power/vm-1', 'on')).status, 200)
    await untilState(page, 'Connected', BOOT_MS)
    const alike = await untilSeen(page, guest(), /guest up in [\d.]+s/, BOOT_MS)
    t.diagnostic(`canvas and libvirt's screenshot match by ${(alike * 100).toFixed(1)} %`)
  })

  test('a typed command is executed by the guest and its output is shown', async () => {
    await typeInto(page, 'echo "It is $((6*7)) & more" | tee /tmp/said\n')
    const said = async () =>
      (await inGuest(host(), 'vm-1', 'cat /tmp/said 2>/dev/null')) === 'It is 42 & more\n'
    await until('the guest executed it', said, PATIENCE_MS)
    await untilSeen(page, guest(), /^It is 42 & more *$/m)
  })

  test('four windows see it at once, the fifth is asked to close one', async () => {
    const others = [
      await browser.open(await address()),
      await browser.open(await address()),
      await browser.open(await address()),
    ]
    for (const each of others) await untilState(each, 'Connected')
    const fifth = await browser.open(await address())
    await untilState(fifth, 'Too many')
    assert.match(await noticeOf(fifth), /open in too many windows[^]*Close one/)
    await others.pop()?.close()
    // vmd notices a closed window a moment after the browser, and counts it until then.
    const isLetIn = async () => {
      await fifth.getByRole('button', { name: 'Connect again' }).click()
      await untilState(fifth, 'Connected|Too many')
      return (await fifth.locator('#state').textContent()) === 'Connected'
    }
    await until('the fifth is accepted', isLetIn, PATIENCE_MS)
    for (const each of [...others, fifth]) await each.close()
    await untilState(page, 'Connected')
  })

  test('600 handshakes of hostile pages and 100 of another user open no screen', async (t) => {
    const origins = [
      'null',
      '',
      'http://evil.example',
      'https://evil.example',
      'http://127.0.0.1',
      'http://127.0.0.1:8081',
      'https://127.0.0.1:8080',
      'http://localhost:8080',
      'http://[::1]:8080',
      'ws://127.0.0.1:8080',
      'http://127.0.0.1:8080/',
      'http://127.0.0.1:8080.evil.example',
      'http://evil.example:8080',
      'file://',
      'http://user@127.0.0.1:8080',
      'http://127.0.0.1:8080@evil.example',
      'http://127.0.0.1:8080,http://evil.example',
      'http://127.0.0.1:08080',
      'http://127.1:8080',
      'http://2130706433:8080',
      'http://0x7f000001:8080',
      'http://127.0.0.1:8080 http://evil.example',
      'chrome-extension://abcdef',
      'moz-extension://abcdef',
      'about:blank',
      'data:text/html,x',
      'blob:http://127.0.0.1:8080/x',
      'http://10.83.0.1:8080',
      'http://host-1:8080',
      'javascript:0',
    ]
    assert.equal(origins.length, 30)
    const own = 'Host: 127.0.0.1:8080\r\n'
    const hostile = origins.map((origin) => handshake(`${own}Origin: ${origin}\r\n`))
    const foreign = ['evil.example:8080', '127.0.0.1', 'localhost:8081', '10.83.0.1:8080'].map(
      (name) => handshake(`Host: ${name}\r\nOrigin: http://${name}\r\n`),
    )
    const visits = ['cross-site', 'same-site'].map((site) =>
      handshake(
        `${own}Sec-Fetch-Site: ${site}\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n`,
      ),
    )
    const requests = Array.from({ length: 20 }, () => hostile).flat()
    assert.deepEqual(tally(await sendRaw(host(), { requests })), { 403: 600 })
    assert.deepEqual(tally(await sendRaw(host(), { requests: [...foreign, ...visits] })), {
      403: 6,
    })
    const strangers = Array.from({ length: 100 }, () => handshake(`${own}Origin: ${OWN}\r\n`))
    assert.deepEqual(tally(await sendRaw(host(), { uid: STRANGER, requests: strangers })), {
      403: 100,
    })
    // An authorised client is accepted with the same bytes.
    assert.deepEqual(tally(await sendRaw(host(), { requests: strangers.slice(0, 1) })), { 101: 1 })
    t.diagnostic(
      '600 of 30 hostile Origins, 6 foreign Hosts and visits, 100 of another user: 0 upgrades',
    )
  })

  test('vmd is killed and restarted: the page shows it, and reconnects', async () => {
    await host().killVmd()
    await untilState(page, 'Connection lost|No connection')
    await host().startVmd()
    await untilState(page, 'Connected')
    await untilSeen(page, guest(), /It is 42/)
  })

  test('the page shows when the VM is suspended, resumed and powered off', async () => {
    assert.equal((await patch('/api/vms/power/vm-1', 'suspend')).status, 200)
    await untilState(page, 'Powered off')
    assert.equal((await patch('/api/vms/power/vm-1', 'on')).status, 200)
    await untilState(page, 'Connected', BOOT_MS)
    await untilSeen(page, guest(), /It is 42/)
    assert.equal((await patch('/api/vms/power/vm-1', 'off')).status, 200)
    await untilState(page, 'Powered off')
    assert.equal((await get('/api/vms/power/vm-1')).status, 200)
  })

  test('every line for a local VM in docs/guides/console.md works as described', async () => {
    const blocks = (await linesBelow('A VM on this machine')).map((block) =>
      block.replaceAll('my-vm', 'vm-1'),
    )
    const script = ['set -euo pipefail', `PATH=${dirname(PROGRAM)}:$PATH`, ...blocks].join('\n')
    const { code, stdout, stderr } = await host().run(['bash', '-c', script])
    assert.equal(code, 0, stderr)
    assert.equal(
      stdout,
      `vm-1 is powered on\n${OWN}/console/vm-1\n{"page":"/console/vm-1","state":"powered on"}`,
    )
  })

  test('with a token only its ticket opens the screen, once', async () => {
    await page.close()
    await host().killVmd('SIGTERM')
    const [file, word] = [join(place.dir, 'token'), 'a-word-of-our-own-choice']
    await writeFile(file, word, { mode: 0o600 })
    const vmd = host().spawn(
      [
        process.execPath,
        join(import.meta.dirname, '../../apps/vmd/src/main.ts'),
        '--token-file',
        file,
      ],
      { stdio: 'ignore', env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' } },
    )
    stack.defer(() => void vmd.kill('SIGKILL'))
    const env = { PATH: process.env['PATH'], SKERRY_TOKEN: word }
    const skerry = (...words: string[]) => host().run([PROGRAM, ...words], { env })
    await until('vmd answers', async () => (await skerry('start', 'vm-1')).code === 0, BOOT_MS)
    const printedUrl = async () => (await skerry('console', 'vm-1', '--print')).stdout.trim()
    const bare = await browser.open(`${OWN}/console/vm-1`)
    await untilState(bare, 'Ticket required')
    assert.match(await noticeOf(bare), /skerry console/)
    await bare.close()
    // Requested last: it is valid for 30 seconds.
    const ticketed = await printedUrl()
    assert.match(ticketed, /^http:\/\/127\.0\.0\.1:8080\/console\/vm-1\?ticket=[\w-]{43}$/)
    page = await browser.open(ticketed)
    await untilState(page, 'Connected')
    assert.equal(page.url(), `${OWN}/console/vm-1`)
    const again = await browser.open(ticketed)
    await untilState(again, 'Ticket required')
    await page.reload()
    await untilState(page, 'Ticket required')
  })
})
