import assert from 'node:assert/strict'
import { test } from 'node:test'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { encodeFrame, FRAME_BYTES_MAX, FrameReader, readHeader } from '../src/frame.ts'
import { ProtocolError } from '../src/index.ts'
import { string, XdrError, XdrWriter } from '../src/xdr.ts'

const header = { program: 1, procedure: 2, type: 1, serial: 3, status: 0 }
const text = string(40_000_000)

function frames(...lengths: number[]): Buffer[] {
  const out = new XdrWriter()
  return lengths.map((length) => Buffer.from(encodeFrame(out, header, text, 'x'.repeat(length))))
}

function collect(): { reader: FrameReader; got: Buffer[] } {
  const got: Buffer[] = []
  return { got, reader: new FrameReader((frame) => got.push(Buffer.from(frame))) }
}

test('a header is read back as written', () => {
  const [frame] = frames(5)
  assert.ok(frame !== undefined)
  assert.deepEqual(readHeader(frame), { ...header, version: 1 })
  assert.equal(frame.readUInt32BE(0), frame.length)
})

test('frames are complete however the bytes are split', () => {
  const sent = frames(0, 5, 100, 70_000, 3, 300_000, 1)
  const all = Buffer.concat(sent)
  const random = seededRandom(1)
  for (let round = 0; round < 50; round += 1) {
    const { reader, got } = collect()
    let offset = 0
    while (offset < all.length) {
      const size = 1 + random.below(random.below(2) === 0 ? 5 : 100_000)
      reader.push(all.subarray(offset, offset + size))
      offset += size
    }
    assert.deepEqual(got, sent)
  }
})

test('frames are complete when every byte arrives alone', () => {
  const sent = frames(0, 5, 100)
  const { reader, got } = collect()
  for (const byte of Buffer.concat(sent)) reader.push(Buffer.of(byte))
  assert.deepEqual(got, sent)
})

test('an invalid length is rejected at once', () => {
  for (const length of [0, 4, 27, FRAME_BYTES_MAX + 1, 0xffffffff]) {
    const bytes = Buffer.alloc(4)
    bytes.writeUInt32BE(length)
    assert.throws(() => collect().reader.push(bytes), ProtocolError)
    const { reader } = collect()
    reader.push(bytes.subarray(0, 3))
    assert.throws(() => reader.push(bytes.subarray(3)), ProtocolError)
  }
})

test('a large length alone takes little memory', () => {
  const bytes = Buffer.alloc(28)
  bytes.writeUInt32BE(FRAME_BYTES_MAX)
  const before = process.memoryUsage().arrayBuffers
  const readers = Array.from({ length: 20 }, () => collect().reader)
  for (const reader of readers) reader.push(bytes)
  assert.ok(process.memoryUsage().arrayBuffers - before < 4_000_000)
})

test('a message too large for libvirt is rejected before it is sent', () => {
  const out = new XdrWriter()
  assert.throws(() => encodeFrame(out, header, text, 'x'.repeat(FRAME_BYTES_MAX)), XdrError)
  const frame = encodeFrame(out, header, text, 'next')
  assert.equal(frame.length, 36)
})

test('nothing is delivered after stop, not even frames that have arrived', () => {
  const got: number[] = []
  const reader = new FrameReader((frame) => {
    got.push(frame.length)
    reader.stop()
  })
  reader.push(Buffer.concat(frames(1, 2, 3)))
  assert.equal(got.length, 1)
})
