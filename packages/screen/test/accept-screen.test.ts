// Goal: only a valid handshake becomes a WebSocket, only from the page's origin, and silent viewers are disconnected.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'

import { until } from '@skerry/lab'

import { mayComeFrom, refuseUpgrade, whyNotHandshake } from '../src/index.ts'
import { startStand } from './screen-stand.ts'

test('an Origin is compared character by character with the configured ones', () => {
  const allowed = ['https://console.example:8443']
  assert.ok(mayComeFrom('https://console.example:8443', allowed))
  assert.ok(mayComeFrom(undefined, allowed), 'no browser')
  for (const origin of [
    '',
    'null',
    'https://console.example',
    'http://console.example:8443',
    'https://console.example:8443/',
    'https://console.example:84430',
    '*',
    'https://CONSOLE.example:8443',
    'https://console.example.:8443',
    'file://',
    'https://console.example:8443.evil.example',
    'https://evil.example',
    'https://evil.example/https://console.example:8443',
    'https://x@console.example:8443',
    'https://console.example:8443 ',
    'https://console.example:8443, https://evil.example',
  ])
    assert.ok(!mayComeFrom(origin, allowed), origin)
  assert.ok(!mayComeFrom('null', []))
})

test('an invalid handshake is detected before any lookup', () => {
  const headers = {
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  const requested = (method: string, changed: object = {}): string | undefined =>
    whyNotHandshake({ method, headers: { ...headers, ...changed } } as unknown as IncomingMessage)
  assert.equal(requested('GET'), undefined)
  assert.match(requested('POST') ?? '', /GET/)
  assert.match(requested('GET', { upgrade: 'h2c' }) ?? '', /websocket/)
  assert.match(requested('GET', { 'sec-websocket-version': '8' }) ?? '', /13/)
  assert.match(requested('GET', { 'sec-websocket-key': 'short' }) ?? '', /Key/)
  assert.match(requested('GET', { 'sec-websocket-key': undefined }) ?? '', /Key/)
})

test('a viewer that neither sends nor reads is disconnected after one unanswered ping', async () => {
  await using stand = await startStand({ pingMs: 20 })
  const { viewer, relayed } = await stand.open()
  viewer.pause()
  const { endedBy, ending } = await relayed
  assert.deepEqual([endedBy, ending.code], ['viewer', 1006])
})

/** Viewer and server are one process here: while it is not scheduled no pings are answered. */
const ANSWERED_MS = 400

test('a viewer that answers pings stays, and so does one that only reads', async () => {
  await using stand = await startStand({ pingMs: ANSWERED_MS })
  const answering = await stand.open()
  let pings = 0
  answering.viewer.on('ping', () => (pings += 1))
  const reading = await stand.open({}, { autoPong: false })
  const pump = setInterval(() => reading.guest.write('x'), 5)
  await until('six pings', () => pings > 5)
  clearInterval(pump)
  assert.equal(answering.viewer.readyState, answering.viewer.OPEN)
  assert.equal(reading.viewer.readyState, reading.viewer.OPEN)
})

test('a viewer that is paused because its guest is stuck does not count as silent', async () => {
  await using stand = await startStand({ pingMs: ANSWERED_MS })
  const { viewer, webSocket, guest } = await stand.open()
  guest.pause()
  for (let i = 0; i < 64; i++) viewer.send(Buffer.alloc(64 * 1024))
  await until('the viewer not to be read', () => webSocket.isPaused)
  const other = await stand.open()
  let pings = 0
  other.viewer.on('ping', () => (pings += 1))
  await until('six pings', () => pings > 5)
  assert.equal(viewer.readyState, viewer.OPEN)
})

test('a rejection is one answer with a message, and the socket is closed', async () => {
  const { createServer } = await import('node:http')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.on('upgrade', (_, socket) => refuseUpgrade(socket, 403, { message: 'used or too old' }))
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.write(
    'GET /screen HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n',
  )
  const text = (await socket.toArray()).join('')
  assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/)
  assert.deepEqual(JSON.parse(text.split('\r\n\r\n')[1] ?? ''), { message: 'used or too old' })
  server.close()
})
