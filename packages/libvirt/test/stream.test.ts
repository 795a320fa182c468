import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { test } from 'node:test'

import {
  connectGetHostname,
  domainOpenConsole,
  domainScreenshot,
  LibvirtError,
  LinkLost,
  storageVolUpload,
  STREAM_WINDOW_BYTES,
  type LibvirtStream,
} from '../src/index.ts'
import { errorBody } from '../src/procedures.gen.ts'
import { XdrWriter } from '../src/xdr.ts'
import { connectPair, type Asked, type Pair, type ScriptedServer } from './scripted-server.ts'

const dom = { name: 'vm', uuid: new Uint8Array(16), id: 1 }
const vol = { pool: 'p', name: 'v', key: 'k' }
const status = { ok: 0, error: 1, continue: 2 }
const settle = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

interface Opened {
  readonly requested: Asked
  readonly stream: LibvirtStream
}

async function openScreenshot({ connection, server }: Pair): Promise<Opened> {
  const opening = connection.openStream(domainScreenshot, { dom, screen: 0, flags: 0 })
  const requested = await server.next()
  server.reply(requested, domainScreenshot.ret, { mime: 'image/png' })
  const { ret, stream } = await opening
  assert.deepEqual(ret, { mime: 'image/png' })
  return { requested, stream }
}

async function openUpload({ connection, server }: Pair): Promise<Opened> {
  const args = { vol, offset: 0n, length: 0n, flags: 0 }
  const opening = connection.openStream(storageVolUpload, args)
  const requested = await server.next()
  server.reply(requested, storageVolUpload.ret, undefined)
  const { stream } = await opening
  return { requested, stream }
}

/** Reads the client's data on a stream, up to its last message. */
async function receive(server: ScriptedServer): Promise<{ bytes: Buffer; last: Asked }> {
  const pieces: Buffer[] = []
  for (;;) {
    const message = await server.next()
    assert.equal(message.type, 3)
    if (message.status !== status.continue) return { bytes: Buffer.concat(pieces), last: message }
    pieces.push(message.payload)
  }
}

test('bytes of the server are read to their end, and the end is confirmed on both sides', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const { requested, stream } = await openScreenshot(pair)
  server.stream(requested, status.continue, Buffer.from('pic'))
  server.stream(requested, status.continue, Buffer.from('ture'))
  server.stream(requested, status.continue)
  const reading = buffer(stream)
  const finish = await server.next()
  assert.deepEqual([finish.status, finish.serial], [status.ok, requested.serial])
  server.stream(requested, status.ok)
  assert.equal((await reading).toString(), 'picture')
  if (!stream.closed) await once(stream, 'close')
})

test('bytes that overtake the answer to their call are not lost', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const opening = connection.openStream(domainScreenshot, { dom, screen: 0, flags: 0 })
  const requested = await server.next()
  server.stream(requested, status.continue, Buffer.from('early'))
  server.stream(requested, status.continue)
  await settle()
  server.reply(requested, domainScreenshot.ret, { mime: null })
  const { stream } = await opening
  assert.equal((await buffer(stream)).toString(), 'early')
})

test('written bytes arrive in pieces that libvirt accepts, and the end waits for the server', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const { requested, stream } = await openUpload(pair)
  const bytes = Buffer.alloc(1_000_000, 'abcdefg')
  let finished = false
  const sending = pipeline(Readable.from([bytes]), stream).then(() => {
    finished = true
  })
  const received = await receive(server)
  assert.equal(received.last.status, status.ok)
  assert.ok(received.bytes.equals(bytes))
  await settle()
  assert.equal(finished, false)
  server.stream(requested, status.ok)
  await sending
  assert.ok(stream.closed)
})

test('a console carries bytes both ways at once', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const opening = connection.openStream(domainOpenConsole, { dom, devName: null, flags: 0 })
  const requested = await server.next()
  server.reply(requested, domainOpenConsole.ret, undefined)
  const { stream } = await opening
  stream.write('login\n')
  assert.equal((await server.next()).payload.toString(), 'login\n')
  server.stream(requested, status.continue, Buffer.from('password:'))
  const [greeting] = (await once(stream, 'data')) as [Buffer]
  assert.equal(greeting.toString(), 'password:')
  stream.end()
  assert.equal((await server.next()).status, status.ok)
  server.stream(requested, status.ok)
  await once(stream, 'close')
})

test('a slow reader pauses the link beyond the window, and resumes it when it has read', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const { requested, stream } = await openScreenshot(pair)
  const piece = Buffer.alloc(250_000)
  const pieces = 40
  let sent = 0
  for (; sent < pieces; sent += 1) server.stream(requested, status.continue, piece)
  server.stream(requested, status.continue)
  await settle()
  // The answer comes after ten megabytes of unread data.
  let answered = false
  const call = connection.call(connectGetHostname, undefined).then(() => {
    answered = true
  })
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  await settle()
  assert.equal(answered, false)
  let read = 0
  for await (const chunk of stream) {
    read += (chunk as Buffer).length
    if (read < piece.length * pieces - STREAM_WINDOW_BYTES - 2 * piece.length) {
      await settle()
      if (read < STREAM_WINDOW_BYTES) assert.equal(answered, false)
    }
    if (read === piece.length * pieces) {
      void server.next().then(() => server.stream(requested, status.ok))
    }
  }
  assert.equal(read, piece.length * pieces)
  await call
})

test('a slow server pauses the writer', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const { requested, stream } = await openUpload(pair)
  server.transport.pause()
  let taken = 0
  const write = (): Promise<void> =>
    new Promise((resolve) => {
      stream.write(Buffer.alloc(100_000), () => {
        taken += 1
        resolve()
      })
    })
  const writing = Array.from({ length: 20 }, write)
  await settle()
  await settle()
  assert.ok(taken <= 1, `${taken} pieces were taken by a server that does not read`)
  server.transport.resume()
  stream.end()
  const { bytes } = await receive(server)
  server.stream(requested, status.ok)
  await Promise.all(writing)
  assert.equal(bytes.length, 2_000_000)
})

test('destroying a stream aborts it at the server, and later data is ignored', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const { requested, stream } = await openScreenshot(pair)
  for (let sent = 0; sent < 30; sent += 1) {
    server.stream(requested, status.continue, Buffer.alloc(250_000))
  }
  await settle()
  stream.destroy()
  const abort = await server.next()
  assert.deepEqual([abort.type, abort.status, abort.serial], [3, status.error, requested.serial])
  server.stream(requested, status.continue, Buffer.from('more'))
  server.stream(requested, status.ok)
  const call = connection.call(connectGetHostname, undefined)
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  await call
  assert.ok(connection.isOpen)
})

test('a stream that is over does not pause the link for unread data', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const { requested, stream } = await openScreenshot(pair)
  stream.end()
  assert.equal((await server.next()).status, status.ok)
  const data = Buffer.alloc(250_000)
  const last = [
    server.streamFrame(requested, status.continue, data),
    server.streamFrame(requested, status.ok),
  ]
  for (let sent = 0; sent < 16; sent += 1) server.stream(requested, status.continue, data)
  // The piece that exceeds the window and the end arrive together.
  server.send(Buffer.concat(last))
  await settle()
  const call = connection.call(connectGetHostname, undefined)
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  stream.read(1)
  await call
  stream.read(1)
  await settle()
  const again = connection.call(connectGetHostname, undefined)
  server.reply(await server.next(), connectGetHostname.ret, { hostname: 'h' })
  await again
})

test('a signal aborts the stream with its reason', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const { signal, abort } = controlled()
  const opening = connection.openStream(domainScreenshot, { dom, screen: 0, flags: 0 }, { signal })
  const requested = await server.next()
  server.reply(requested, domainScreenshot.ret, { mime: null })
  const { stream } = await opening
  const reading = buffer(stream)
  abort(new Error('enough'))
  await assert.rejects(reading, { name: 'CallAborted' })
  assert.equal((await server.next()).status, status.error)
})

function controlled(): { signal: AbortSignal; abort: (reason: Error) => void } {
  const controller = new AbortController()
  return { signal: controller.signal, abort: (reason) => controller.abort(reason) }
}

test('a stream whose opening was aborted is aborted when its answer arrives', async () => {
  await using pair = await connectPair()
  const { connection, server, timers } = pair
  const options = { timeoutMs: 10 }
  const opening = connection.openStream(domainScreenshot, { dom, screen: 0, flags: 0 }, options)
  const requested = await server.next()
  timers.advance(10)
  await assert.rejects(opening, { name: 'CallTimedOut' })
  server.stream(requested, status.continue, Buffer.from('unwanted'))
  server.reply(requested, domainScreenshot.ret, { mime: null })
  const abort = await server.next()
  assert.deepEqual([abort.type, abort.status, abort.serial], [3, status.error, requested.serial])
  assert.ok(connection.isOpen)
})

test('a rejected opening and a later error both have libvirt’s message', async () => {
  await using pair = await connectPair()
  const { connection, server } = pair
  const refused = connection.openStream(domainScreenshot, { dom, screen: 0, flags: 0 })
  server.refuse(await server.next(), 55, 'not running')
  await assert.rejects(refused, LibvirtError)

  const { requested, stream } = await openScreenshot(pair)
  const out = new XdrWriter()
  out.begin(0)
  errorBody.write(out, {
    code: 38,
    domain: 38,
    message: 'disk on fire',
    level: 2,
    dom: null,
    str1: null,
    str2: null,
    str3: null,
    int1: 0,
    int2: 0,
    net: null,
  })
  const reading = buffer(stream)
  server.stream(requested, status.error, Buffer.from(out.end()))
  await assert.rejects(reading, { name: 'LibvirtError', message: 'disk on fire' })
  assert.equal(server.unread, 0)
})

test('a lost link ends open streams, read or not', async () => {
  await using pair = await connectPair()
  const first = await openScreenshot(pair)
  const second = await openUpload(pair)
  const reading = buffer(first.stream)
  pair.server.transport.destroy()
  await assert.rejects(reading, LinkLost)
  await assert.rejects(pipeline(Readable.from([Buffer.alloc(10)]), second.stream))
  assert.ok(second.stream.errored instanceof LinkLost)
})

test('a hole aborts the stream: only sparse streams have holes', async () => {
  await using pair = await connectPair()
  const { server } = pair
  const { requested, stream } = await openScreenshot(pair)
  server.stream(requested, status.continue, Buffer.alloc(12), 6)
  await assert.rejects(buffer(stream), { name: 'ProtocolError' })
  assert.equal((await server.next()).status, status.error)
  assert.ok(pair.connection.isOpen)
})
