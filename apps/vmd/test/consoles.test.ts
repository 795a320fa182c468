// Goal: a screen is shown to who may see it, and everybody else reads why not. Method: the local API over a real libvirtd whose
// guests are not real, so that none has a screen; screens that are there are in tests/accept/console.test.ts.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'
import { after, before, test } from 'node:test'

import { changePower, createVm } from '@skerry/engine'
import { freePorts, reasonWithoutRoot } from '@skerry/lab'

import {
  startEmulatedHost,
  type EmulatedHost,
} from '../../../packages/engine/test/emulated-host.ts'
import { buildLocalServer } from '../src/local/server.ts'
import { makeToken } from '../src/local/token.ts'
import { openLocal } from '../src/open-local.ts'

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

interface Door extends AsyncDisposable {
  readonly url: string
  readonly get: (path: string, init?: RequestInit) => Promise<Response>
  /** The code and the words with which a socket is closed. */
  readonly closing: (path: string) => Promise<readonly [number, string]>
  /** What is said to one that is not even opened. */
  readonly refusal: (path: string, headers?: object) => Promise<unknown>
}

async function openDoor(token?: string): Promise<Door> {
  assert.ok(started)
  await using stack = new AsyncDisposableStack()
  let made = 0
  const local = stack.use(
    await openLocal(started.host, {
      ...{ restore: 'autostart', secret: () => `secret-${made++}`, locked: token !== undefined },
    }),
  )
  const port = await freePorts()
  const server = buildLocalServer(local, {
    door: { kind: 'loopback', port },
    admits: async () => true,
    token: token === undefined ? undefined : makeToken(token),
    log: () => undefined,
  })
  stack.defer(() => server.close())
  stack.defer(() => local.endStreams())
  await server.listen({ port, host: '127.0.0.1' })
  const url = `http://127.0.0.1:${port}`
  const all = stack.move()
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
        ...{ connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' },
        ...{ 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==', ...headers },
      }
      const sent = request({ host: '127.0.0.1', port, path, headers: handshake }).end()
      const [answer] = (await once(sent, 'response')) as [IncomingMessage]
      return json(answer)
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

test('where a screen is to be seen is told with the state of the VM', { skip }, async () => {
  await using door = await openDoor()
  for (const [id, state] of [
    ['off-1', 'powered off'],
    ['on-1', 'powered on'],
  ]) {
    const answer = await door.get(`/api/vms/${id}/screen`, { method: 'POST' })
    assert.equal(answer.status, 201)
    assert.deepEqual(await answer.json(), { page: `/console/${id}`, state })
  }
  const none = await door.get('/api/vms/nobody/screen', { method: 'POST' })
  assert.deepEqual(await none.json(), { code: 404, message: 'there is no VM nobody' })
})

test('the screen of a VM that is off closes with how to turn it on', { skip }, async () => {
  await using door = await openDoor()
  assert.deepEqual(await door.closing('/console/off-1/screen'), [
    4001,
    'it is powered off; turn it on: skerry start off-1',
  ])
  // It is on, but in a hypervisor that shows nothing.
  assert.deepEqual(await door.closing('/console/on-1/screen'), [
    1011,
    'it shows no screen now; try again',
  ])
})

test('an unknown VM, and what is no handshake, is refused in words', { skip }, async () => {
  await using door = await openDoor()
  for (const id of ['nobody', 'cloud-7', '..', '%2e%2e']) {
    assert.deepEqual(await door.refusal(`/console/${id}/screen`), {
      ...{ code: 404, message: `there is no VM ${id}` },
    })
  }
  const strange = { 'sec-websocket-version': '8' }
  assert.deepEqual(await door.refusal('/console/on-1/screen', strange), {
    ...{ code: 400, message: 'expected Sec-WebSocket-Version: 13' },
  })
})

test('with a token a screen wants a ticket that only the token gets, once', { skip }, async () => {
  await using door = await openDoor(WORD)
  const asks = (headers: Record<string, string>) =>
    door.get('/api/vms/off-1/screen', { method: 'POST', headers })
  assert.equal((await asks({})).status, 401)
  const offer = await asks({ authorization: `Bearer ${WORD}` })
  const { page, expires } = (await offer.json()) as { page: string; expires: string }
  assert.equal(page, '/console/off-1?ticket=secret-0')
  // The clock that this host was given stands still.
  assert.equal(expires, new Date(30_000).toISOString())
  for (const query of ['', '?ticket=', '?ticket=secret-9']) {
    assert.deepEqual(await door.refusal(`/console/off-1/screen${query}`), {
      ...{ code: 403, message: 'this ticket is used, too old or none' },
      hint: 'ask for a new one: skerry console off-1',
    })
  }
  const [shown] = await door.closing('/console/off-1/screen?ticket=secret-0')
  assert.equal(shown, 4001)
  const again = await door.refusal('/console/off-1/screen?ticket=secret-0')
  assert.equal((again as { code: number }).code, 403)
})

test(
  'the page is for every VM the same, and says of one that is not there that it is not',
  { skip },
  async () => {
    await using door = await openDoor()
    const html = { headers: { accept: 'text/html,*/*' } }
    const page = await door.get('/console/off-1', html)
    assert.deepEqual(
      [page.status, page.headers.get('content-type')],
      [200, 'text/html; charset=utf-8'],
    )
    const policy = page.headers.get('content-security-policy') ?? ''
    assert.match(policy, /^default-src 'none';/)
    assert.match(policy, /frame-ancestors 'none'/)
    assert.equal(page.headers.get('referrer-policy'), 'no-referrer')
    const text = await page.text()
    const none = await door.get('/console/nobody', html)
    assert.deepEqual([none.status, await none.text()], [404, text])
    const program = await door.get('/console/nobody')
    assert.deepEqual(await program.json(), { code: 404, message: 'there is no VM nobody' })
    const files = [...text.matchAll(/ (?:src|href)="(\/[^"]+)"/g)].map(([, file = '']) => file)
    assert.ok(files.length > 10, 'the page and what it imports')
    for (const file of files) {
      assert.equal((await door.get(file)).status, 200, file)
    }
    for (const path of [
      '/console/-/x',
      '/console/-/../main.ts',
      '/console/',
      '/console/-/0123456789abcdef/nothing.js',
    ])
      assert.equal((await door.get(path)).status, 404, path)
  },
)

test(
  'with a token the page is shown without it, and tells nobody which VMs there are',
  { skip },
  async () => {
    await using door = await openDoor(WORD)
    const html = { headers: { accept: 'text/html' } }
    assert.equal((await door.get('/console/off-1', html)).status, 200)
    assert.equal((await door.get('/console/nobody', html)).status, 200)
    assert.equal((await door.get('/console/nobody')).status, 200)
    assert.equal((await door.get('/api/vms/power/off-1')).status, 401)
  },
)
