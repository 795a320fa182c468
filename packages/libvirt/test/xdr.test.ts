import assert from 'node:assert/strict'
import { test } from 'node:test'

import { uuidFromString, uuidToString } from '../src/index.ts'
import {
  array,
  chars,
  double,
  fixed,
  hyper,
  int,
  opaque,
  optional,
  string,
  struct,
  uhyper,
  uint,
  XdrError,
  XdrReader,
  XdrWriter,
  type Codec,
} from '../src/xdr.ts'

function write<T>(codec: Codec<T>, value: T): Buffer {
  const out = new XdrWriter()
  out.begin(0)
  codec.write(out, value)
  return Buffer.from(out.end())
}

function read<T>(codec: Codec<T>, bytes: Buffer): T {
  const from = new XdrReader(bytes)
  const value = codec.read(from)
  from.finish()
  return value
}

function words(...values: number[]): Buffer {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value >>> 0, index * 4)
  return bytes
}

test('numbers are big-endian on the wire', () => {
  assert.equal(write(int, -2).toString('hex'), 'fffffffe')
  assert.equal(write(uint, 0xfedcba98).toString('hex'), 'fedcba98')
  assert.equal(write(hyper, -2n).toString('hex'), 'fffffffffffffffe')
  assert.equal(write(uhyper, 2n ** 64n - 1n).toString('hex'), 'ffffffffffffffff')
  assert.equal(write(double, 1).toString('hex'), '3ff0000000000000')
})

test('bytes are padded with zeros to a multiple of four', () => {
  assert.equal(write(string(10), 'abcde').toString('hex'), '000000056162636465000000')
  assert.equal(write(opaque(10), Uint8Array.of(1)).toString('hex'), '0000000101000000')
  assert.equal(write(fixed(3), Uint8Array.of(1, 2, 3)).toString('hex'), '01020300')
  assert.equal(write(string(10), '').toString('hex'), '00000000')
})

test('an array of characters uses a word for each and ends at the first zero', () => {
  assert.deepEqual(write(chars(3), 'ab'), words(97, 98, 0))
  assert.equal(read(chars(3), words(97, 0, 98)), 'a')
  assert.throws(() => write(chars(3), 'abc'), XdrError)
})

test('64-bit numbers are exact', () => {
  const value = 2n ** 53n + 1n
  assert.equal(read(uhyper, write(uhyper, value)), value)
})

test('a number that does not fit its type is rejected', () => {
  for (const value of [2 ** 31, -(2 ** 31) - 1, 0.5, NaN]) {
    assert.throws(() => write(int, value), XdrError)
  }
  for (const value of [2 ** 32, -1, 0.5, NaN]) assert.throws(() => write(uint, value), XdrError)
  assert.throws(() => write(hyper, 2n ** 63n), XdrError)
  assert.throws(() => write(uhyper, -1n), XdrError)
})

test('a string that libvirt would read differently is rejected', () => {
  assert.throws(() => write(string(10), 'a\0b'), XdrError)
  assert.throws(() => write(string(10), '\ud800'), XdrError)
})

test('limits hold in both directions, in bytes for text', () => {
  assert.throws(() => write(string(3), 'äöü'), XdrError)
  assert.throws(() => write(opaque(2), new Uint8Array(3)), XdrError)
  assert.throws(() => write(fixed(2), new Uint8Array(3)), XdrError)
  assert.throws(() => write(array(int, 1), [1, 2]), XdrError)
  assert.throws(() => read(string(3), write(string(4), 'abcd')), XdrError)
  assert.throws(() => read(opaque(2), write(opaque(3), new Uint8Array(3))), XdrError)
  assert.throws(() => read(array(int, 1), write(array(int, 2), [1, 2])), XdrError)
})

test('a length or count that exceeds the message costs no memory', () => {
  const huge = words(0x7fffffff)
  for (const codec of [string(2 ** 31), opaque(2 ** 31), array(int, 2 ** 31)]) {
    const before = process.memoryUsage().arrayBuffers
    assert.throws(() => read<unknown>(codec, huge), XdrError)
    assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000)
  }
})

test('a message that ends within a field, or continues after the last, is rejected', () => {
  const codec = struct({ name: string(10), size: uhyper })
  const bytes = write(codec, { name: 'disk', size: 1n })
  for (let length = 0; length < bytes.length; length += 1) {
    assert.throws(() => read(codec, bytes.subarray(0, length)), XdrError)
  }
  assert.throws(() => read(codec, Buffer.concat([bytes, words(0)])), XdrError)
})

test('an optional value is present or absent, and nothing else', () => {
  const codec = optional(int)
  assert.equal(read(codec, words(0)), null)
  assert.equal(read(codec, words(1, 5)), 5)
  assert.throws(() => read(codec, words(2, 5)), XdrError)
})

test('values stay valid when their buffer is reused', () => {
  const codec = struct({ text: string(10), bytes: opaque(10), id: fixed(4) })
  const memory = write(codec, { text: 'text', bytes: Buffer.from('abc'), id: Buffer.from('wxyz') })
  const value = read(codec, memory)
  memory.fill(0)
  assert.equal(value.text, 'text')
  assert.equal(Buffer.from(value.bytes).toString(), 'abc')
  assert.equal(Buffer.from(value.id).toString(), 'wxyz')
})

test('consecutive frames do not overlap, regardless of their size', () => {
  const out = new XdrWriter()
  const frames = [10, 70_000, 3, 200_000, 60_000, 30_000].map((length) => {
    out.begin(4)
    out.string('x'.repeat(length), 1_000_000)
    const frame = out.end()
    frame.writeUInt32BE(length, 0)
    return { frame, length }
  })
  for (const { frame, length } of frames) {
    assert.equal(frame.readUInt32BE(0), length)
    assert.equal(new XdrReader(frame, 4).string(1_000_000), 'x'.repeat(length))
  }
})

test('a UUID is 16 bytes for libvirt and text for people', () => {
  const text = '6695eb01-f6a4-8304-79aa-97f2502e193f'
  assert.equal(uuidToString(uuidFromString(text)), text)
  assert.equal(uuidFromString(text).length, 16)
  for (const wrong of ['', text.slice(1), `${text}0`, text.replaceAll('-', '')]) {
    assert.throws(() => uuidFromString(wrong), TypeError)
  }
})
