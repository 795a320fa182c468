// Goal: a screen is shown to permitted clients, and all others get the reason. Method: the local API on a real libvirtd without
// real guests, so that none has a display; real displays are in tests/accept/console.test.ts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before, test } from 'node:test'

import { changePower, createVm } from '@skerry/engine'
import { reasonWithoutRoot } from '@skerry/lab'

import {
  startEmulatedHost,
  type EmulatedHost,
} from '../../../packages/engine/test/emulated-host.ts'
import { serveLocal } from './served-local.ts'

const skip = reasonWithoutRoot('host') ?? false
const WORD = 'a-word-of-our-own-choice'
let started: EmulatedHost | undefined
before(async () => {
  if (skip !== false) return
  started = await startEmulatedHost()
  for (const id of ['off-1', 'on-1']) await createVm(started.host, { id })
  await changePower(started.host, 'on-1', 'on')
})
after(() => started?.[Symbol.asyncDispose]())

interface ConsoleApi extends AsyncDisposable {
  readonly url: string
  readonly get: (path: string, init?: RequestInit) => Promise<Response>
  /** The code and the reason with which a socket is closed. */
  readonly closing: (path: string) => Promise<readonly [number, string]>
  /** The answer to a rejected upgrade. */
  readonly refusal: (path: string, headers?: object) => Promise<unknown>
}

async function openApi(token?: string): Promise<ConsoleApi> {
  assert.ok(started)
  const served = await serveLocal(started.host, { token })
  const { port } = served
  const url = `http://127.0.0.1:${port}`
  return {
    url,
    get: (path, init) => fetch(url + path, init),
    async closing(path) {
      const socket = new WebSocket(url.replace('http', 'ws') + path)
      const { code, reason } = await new Promise<CloseEvent>((resolve) =>
        socket.addEventListener('close', resolve),
      )
      return [code, reason]
    },
    async refusal(path, headers) {
      const handshake = {
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
        ...headers,
      }
      const sent = request({ host: '127.0.0.1', port, path, headers: handshake }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return json(answer)
    },
    [Symbol.asyncDispose]: () => served[Symbol.asyncDispose](),
  }
}

test('opening a screen returns its path and the state of the VM', { skip }, async () => {
  await using api = await openApi()
  for (const [id, state] of [
    ['off-1', 'powered off'],
    ['on-1', 'powered on'],
  ]) {
    const answer = await api.get(`/api/vms/${id}/screen`, { method: 'POST' })
    assert.equal(answer.status, 201)
    assert.deepEqual(await answer.json(), { page: `/console/${id}`, state })
  }
  const none = await api.get('/api/vms/missing/screen', { method: 'POST' })
  assert.deepEqual(await none.json(), { code: 404, message: 'there is no VM missing' })
})

test('the screen of a VM that is off closes with how to turn it on', { skip }, async () => {
  await using api = await openApi()
  assert.deepEqual(await api.closing('/console/off-1/screen'), [
    4001,
    'it is powered off; turn it on: skerry start off-1',
  ])
  // It is on, but in a hypervisor without displays.
  assert.deepEqual(await api.closing('/console/on-1/screen'), [
    1011,
    'it has no display now; try again',
  ])
})

test('an unknown VM and an invalid handshake are rejected with a message', { skip }, async () => {
  await using api = await openApi()
  for (const id of ['missing', 'cloud-7', '..', '%2e%2e']) {
    assert.deepEqual(await api.refusal(`/console/${id}/screen`), {
      code: 404,
      message: `there is no VM ${id}`,
    })
  }
  const strange = { 'sec-websocket-version': '8' }
  assert.deepEqual(await api.refusal('/console/on-1/screen', strange), {
    code: 400,
    message: 'expected Sec-WebSocket-Version: 13',
  })
})

test('with a token, a screen requires a single-use ticket issued for it', { skip }, async () => {
  await using api = await openApi(WORD)
  const asks = (headers: Record<string, string>) =>
    api.get('/api/vms/off-1/screen', { method: 'POST', headers })
  assert.equal((await asks({})).status, 401)
  const offer = await asks({ authorization: `Bearer ${WORD}` })
  const { page, expires } = (await offer.json()) as { page: string; expires: string }
  assert.equal(page, '/console/off-1?ticket=secret-0')
  // The clock of this host does not move.
  assert.equal(expires, new Date(30_000).toISOString())
  for (const query of ['', '?ticket=', '?ticket=secret-9']) {
    assert.deepEqual(await api.refusal(`/console/off-1/screen${query}`), {
      code: 403,
      message: 'the ticket is missing, used or expired',
      hint: 'get a new one: skerry console off-1',
    })
  }
  const [shown] = await api.closing('/console/off-1/screen?ticket=secret-0')
  assert.equal(shown, 4001)
  const again = await api.refusal('/console/off-1/screen?ticket=secret-0')
  assert.equal((again as { code: number }).code, 403)
})

test(
  'the page is the same for every VM; for a missing VM its status is 404',
  { skip },
  async () => {
    await using api = await openApi()
    const html = { headers: { accept: 'text/html,*/*' } }
    const page = await api.get('/console/off-1', html)
    assert.deepEqual(
      [page.status, page.headers.get('content-type')],
      [200, 'text/html; charset=utf-8'],
    )
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    const text = await page.text()
    const none = await api.get('/console/missing', html)
    assert.deepEqual([none.status, await none.text()], [404, text])
    const program = await api.get('/console/missing')
    assert.deepEqual(await program.json(), { code: 404, message: 'there is no VM missing' })
    const files = [...text.matchAll(/ (?:src|href)="(\/[^"]+)"/g)].map(([, file = '']) => file)
    assert.ok(files.length > 10, 'the page and what it imports')
    for (const file of files) {
      assert.equal((await api.get(file)).status, 200, file)
    }
    for (const path of [
      '/console/-/x',
      '/console/-/../main.ts',
      '/console/',
      '/console/-/0123456789abcdef/nothing.js',
    ])
      assert.equal((await api.get(path)).status, 404, path)
  },
)

test(
  'with a token the page is shown without it, and does not reveal which VMs exist',
  { skip },
  async () => {
    await using api = await openApi(WORD)
    const html = { headers: { accept: 'text/html' } }
    assert.equal((await api.get('/console/off-1', html)).status, 200)
    assert.equal((await api.get('/console/missing', html)).status, 200)
    assert.equal((await api.get('/console/missing')).status, 200)
    assert.equal((await api.get('/api/vms/power/off-1')).status, 401)
  },
)
