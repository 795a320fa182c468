// Goal: the image of a screen that is off is a valid PNG. Method: it is parsed by the rules of the format.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32, inflateSync } from 'node:zlib'

import { blackPicture } from '../src/documents/black-picture.ts'

test('a black picture has the right size, complete chunks with checksums, and no pixel set', () => {
  for (const [width, height] of [
    [1, 1],
    [720, 400],
    [13, 7],
  ] as const) {
    const png = blackPicture(width, height)
    assert.equal(png.subarray(0, 8).toString('hex'), '89504e470d0a1a0a')
    const chunks = new Map<string, Buffer>()
    for (let at = 8; at < png.length;) {
      const length = png.readUInt32BE(at)
      const body = png.subarray(at + 4, at + 8 + length)
      assert.equal(png.readUInt32BE(at + 8 + length), crc32(body))
      chunks.set(body.subarray(0, 4).toString('latin1'), body.subarray(4))
      at += 12 + length
    }
    assert.deepEqual([...chunks.keys()], ['IHDR', 'IDAT', 'IEND'])
    const head = chunks.get('IHDR')
    assert.deepEqual([head?.readUInt32BE(0), head?.readUInt32BE(4)], [width, height])
    const lines = inflateSync(chunks.get('IDAT') ?? Buffer.alloc(0))
    assert.equal(lines.length, (1 + Math.ceil(width / 8)) * height)
    assert.ok(lines.every((byte) => byte === 0))
  }
})
