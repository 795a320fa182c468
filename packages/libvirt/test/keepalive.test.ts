import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  connectGetHostname,
  domainLookupByName,
  domainScreenshot,
  LinkLost,
  STREAM_WINDOW_BYTES,
} from '../src/index.ts'
import { connectPair, type Pair } from './scripted-server.ts'

const keepalive = { intervalMs: 1_000, count: 3 }
const PROGRAM = 0x6b656570

/** Waits until sent messages have arrived. */
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

async function pass(pair: Pair, ms: number): Promise<void> {
  pair.timers.advance(ms)
  await settle()
}

test('a ping is answered, with or without keepalive', async () => {
  await using pair = await connectPair()
  pair.server.keepalive(1)
  const { program, procedure, type } = await pair.server.next()
  assert.deepEqual({ program, procedure, type }, { program: PROGRAM, procedure: 2, type: 2 })
})

test('a server that pings without reading gets one answer', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  server.transport.pause()
  const name = 'x'.repeat(100_000)
  const call = connection.call(domainLookupByName, { name }, { timeoutMs: 0 })
  call.catch(() => {})
  await settle()
  for (let requested = 0; requested < 1_000; requested += 1) server.keepalive(1)
  await settle()
  server.transport.resume()
  await server.next()
  assert.equal((await server.next()).program, PROGRAM)
  await settle()
  assert.equal(server.unread, 0)
})

test('a silent server is pinged and stays connected while it answers', async () => {
  await using pair = await connectPair({ keepalive })
  const { connection, server } = pair
  await pass(pair, 1_000)
  for (let round = 0; round < 10; round += 1) {
    await pass(pair, 1_000)
    const { program, procedure } = await server.next()
    assert.deepEqual({ program, procedure }, { program: PROGRAM, procedure: 1 })
    server.keepalive(2)
    await settle()
    await pass(pair, 1_000)
  }
  assert.ok(connection.isOpen)
})

test('a server that stays silent counts as dead, and every call fails', async () => {
  await using pair = await connectPair({ keepalive })
  const { connection, timers } = pair
  const call = connection.call(connectGetHostname, undefined, { timeoutMs: 0 })
  call.catch(() => {})
  await pass(pair, 4_000)
  assert.ok(connection.isOpen)
  await pass(pair, 1_000)
  assert.equal(connection.isOpen, false)
  await assert.rejects(call, LinkLost)
  assert.match((await connection.closed).message, /silent for 4000 ms/)
  assert.equal(timers.pending, 0)
})

test('any message of the server counts as a sign of life', async () => {
  await using pair = await connectPair({ keepalive })
  const { connection, server } = pair
  for (let round = 0; round < 20; round += 1) {
    await pass(pair, 900)
    const call = connection.call(connectGetHostname, undefined)
    server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
    await call
  }
  assert.equal(server.unread, 0)
})

test('while a slow reader pauses the link the server still gets pongs', async () => {
  await using pair = await connectPair({ keepalive })
  const { connection, server } = pair
  const opening = connection.openStream(domainScreenshot, {
    dom: { name: 'vm', uuid: new Uint8Array(16), id: 1 },
    screen: 0,
    flags: 0,
  })
  const requested = await server.next()
  server.reply(requested, domainScreenshot.ret, { mime: null })
  const { stream } = await opening
  for (let sent = 0; sent <= STREAM_WINDOW_BYTES; sent += 100_000) {
    server.stream(requested, 2, Buffer.alloc(100_000))
  }
  await settle()
  for (let round = 0; round < 20; round += 1) {
    await pass(pair, 1_000)
    const { program, procedure } = await server.next()
    assert.deepEqual({ program, procedure }, { program: PROGRAM, procedure: 2 })
  }
  assert.ok(connection.isOpen)
  stream.destroy()
})
