// Goal: display updates reach the viewer and input reaches the guest, complete and in order; neither can make the other's bytes
// accumulate in our memory; when either ends, both are closed, and the viewer gets the reason.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'

import { until } from '@skerry/lab'

import { endings } from '../src/index.ts'
import { closed, startStand } from './screen-stand.ts'

const MIB = 1024 * 1024
/** The maximum buffered for one viewer: the limit and the one read that exceeded it. */
const MAY_WAIT = 256 * 1024
/** Both ends are in this process, which may get a tenth of a processor. */
const ALL_MS = 120_000

test('bytes pass both ways unmodified, and are counted', async () => {
  await using stand = await startStand()
  const { viewer, guest, relayed } = await stand.open()
  const shown = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7) % 256))
  guest.write(shown)
  const seen: Buffer[] = []
  viewer.on('message', (data: Buffer, isBinary) => {
    assert.ok(isBinary)
    seen.push(data)
  })
  await until('all of it to arrive', () => Buffer.concat(seen).length === shown.length)
  assert.ok(Buffer.concat(seen).equals(shown))

  viewer.send(Buffer.from('RFB 003.008\n'))
  const [typed] = (await once(guest, 'data')) as [Buffer]
  assert.equal(typed.toString(), 'RFB 003.008\n')

  viewer.close(1000, 'done')
  assert.deepEqual(await relayed, {
    shown: 70_000,
    typed: 12,
    endedBy: 'viewer',
    ending: { code: 1000, reason: 'done' },
  })
  if (!guest.readableEnded) await once(guest, 'end')
})

test('the sub-protocol is binary if requested, and none otherwise', async () => {
  await using stand = await startStand()
  const asking = await stand.open()
  assert.equal(asking.viewer.protocol, 'binary')
  assert.equal(asking.viewer.extensions, '')
  const silent = await stand.open({}, {}, [])
  assert.equal(silent.viewer.protocol, '')
})

test('a viewer that does not read stops the guest, not us, and then gets everything', async () => {
  await using stand = await startStand()
  const { viewer, webSocket, display, guest } = await stand.open()
  viewer.pause()
  const piece = Buffer.alloc(64 * 1024, 7)
  const total = 64 * MIB
  const sum = createHash('sha256')
  let written = 0
  const feed = (): void => {
    while (written < total) {
      written += piece.length
      sum.update(piece)
      if (!guest.write(piece)) return void guest.once('drain', feed)
    }
  }
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, webSocket.bufferedAmount)), 1)
  feed()
  // It stops when the display is paused and the guest's socket is full.
  await until('guest and display to stall', () => display.isPaused() && guest.writableNeedDrain)
  const held = written
  await until('a look at the queue', () => most > 0)
  assert.ok(
    held < total / 2,
    `${held / MIB} MiB were read from the guest although no viewer read them`,
  )
  assert.ok(webSocket.bufferedAmount + display.readableLength <= MAY_WAIT)

  const got = createHash('sha256')
  let bytes = 0
  viewer.on('message', (data: Buffer) => {
    got.update(data)
    bytes += data.length
  })
  viewer.resume()
  await until('all of it to arrive', () => bytes === total, ALL_MS)
  clearInterval(watch)
  assert.equal(got.digest('hex'), sum.digest('hex'))
  assert.ok(most <= MAY_WAIT, `${most} bytes waited for a viewer`)
})

test('a guest that does not read stops the viewer, not us', async () => {
  await using stand = await startStand()
  const { viewer, webSocket, display, guest } = await stand.open()
  guest.pause()
  const total = 32 * MIB
  for (let sent = 0; sent < total; sent += 64 * 1024) viewer.send(Buffer.alloc(64 * 1024, 3))
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, display.writableLength)), 1)
  await until('viewer and display to stall', () => webSocket.isPaused && display.writableNeedDrain)
  let bytes = 0
  guest.on('data', (data: Buffer) => (bytes += data.length))
  guest.resume()
  await until('all of it to arrive', () => bytes === total, ALL_MS)
  clearInterval(watch)
  assert.ok(most <= MAY_WAIT, `${most} bytes waited for a guest`)
})

test('a viewer that sends pings and never reads the pongs gets few', async () => {
  await using stand = await startStand()
  const { viewer, webSocket, guest } = await stand.open()
  viewer.pause()
  const chunk = Buffer.alloc(64 * 1024)
  const feed = (): void => {
    while (guest.write(chunk));
  }
  guest.on('drain', feed)
  feed()
  await until('bytes to wait', () => webSocket.bufferedAmount > 0)
  const before = webSocket.bufferedAmount
  for (let i = 0; i < 5000; i++) viewer.ping(Buffer.alloc(125))
  viewer.send(Buffer.from('last'))
  await once(webSocket, 'message')
  assert.ok(webSocket.bufferedAmount - before < MAY_WAIT)
})

test('a text frame is rejected with a message', async () => {
  await using stand = await startStand()
  const { viewer, relayed, guest } = await stand.open()
  viewer.send('hello')
  assert.deepEqual(await closed(viewer), [1003, 'only binary frames are accepted'])
  assert.equal((await relayed).typed, 0)
  if (!guest.readableEnded) await once(guest.resume(), 'end')
})

test('a frame of more than 1 MiB is rejected, one of 1 MiB passes', async () => {
  await using stand = await startStand()
  const { viewer, relayed, guest } = await stand.open()
  let bytes = 0
  guest.on('data', (data: Buffer) => (bytes += data.length))
  viewer.send(Buffer.alloc(MIB))
  await until('the whole frame to arrive', () => bytes === MIB)
  viewer.send(Buffer.alloc(MIB + 1))
  assert.equal((await closed(viewer))[0], 1009)
  assert.equal((await relayed).typed, MIB)
})

test('the last bytes of a guest are delivered, then the viewer is closed with "VM is off"', async () => {
  await using stand = await startStand()
  const { viewer, guest, relayed } = await stand.open()
  const last = Buffer.alloc(3 * MIB, 9)
  let bytes = 0
  viewer.on('message', (data: Buffer) => (bytes += data.length))
  // Half-closed: it would still read.
  guest.end(last)
  assert.deepEqual(await closed(viewer), [4001, 'the VM was powered off'])
  assert.equal(bytes, last.length)
  const { endedBy, shown } = await relayed
  assert.deepEqual([endedBy, shown], ['screen', last.length])
})

test('a display that breaks means a lost host, unless the caller knows better', async () => {
  await using stand = await startStand()
  const first = await stand.open()
  first.display.destroy(new Error('reset'))
  assert.deepEqual(await closed(first.viewer), [1011, 'the link to the host was lost'])

  const second = await stand.open({
    screenEnded: (error) => {
      assert.match(String(error), /reset/)
      return Promise.resolve(endings.poweredOff)
    },
  })
  second.display.destroy(new Error('reset'))
  assert.equal((await closed(second.viewer))[0], 4001)

  const third = await stand.open({ screenEnded: () => Promise.reject(new Error('unknown')) })
  third.guest.end()
  assert.equal((await closed(third.viewer))[0], 1011)
})

test('an end from this side reaches the viewer with its reason, cut to the frame limit', async () => {
  await using stand = await startStand()
  for (const [reason, expected] of [
    [endings.rightLost, [4003, 'the right to see this screen was lost']],
    [{ code: 4003, reason: 'é'.repeat(100) }, [4003, 'é'.repeat(61)]],
    [new Error('anything'), [4008, 'the console stops here: open the screen again']],
  ] as const) {
    const end = new AbortController()
    const { viewer, relayed } = await stand.open({ signal: end.signal })
    end.abort(reason)
    assert.deepEqual(await closed(viewer), expected)
    assert.equal((await relayed).endedBy, 'us')
  }
})

test('a viewer that neither reads nor answers a close is disconnected', async () => {
  await using stand = await startStand({ closeMs: 20 })
  const end = new AbortController()
  const { viewer, relayed } = await stand.open({ signal: end.signal })
  viewer.pause()
  end.abort(endings.stopping)
  assert.equal((await relayed).endedBy, 'us')
})

test('a relay whose end came first ends at once', async () => {
  await using stand = await startStand()
  const { viewer, relayed } = await stand.open({ signal: AbortSignal.abort(endings.stopping) })
  assert.equal((await closed(viewer))[0], 4008)
  assert.equal((await relayed).endedBy, 'us')
})
