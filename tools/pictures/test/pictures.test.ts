import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deflateSync, inflateSync } from 'node:zlib'

import { keepTop } from '../crop.ts'
import { readScreen } from '../screen.ts'

const shown = (written: string) =>
  readScreen(written).map((line) => line.map(({ letter }) => letter).join(''))

test('a screen shows what a terminal shows after these bytes', () => {
  assert.deepEqual(shown('one\r\ntwo\r\n'), ['one', 'two'])
  assert.deepEqual(shown('long line\r\u001B[Kshort'), ['short'])
  const [line = []] = readScreen('\u001B[1mA\u001B[22m\u001B[32mb\u001B[39mc')
  assert.deepEqual(
    line.map(({ marks }) => marks),
    [[1], [32], []],
  )
})

test('the upper rows of a picture are unchanged', () => {
  const part = (name: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)])
  }
  // Two pixels wide and three high, 8 bits of RGB.
  const header = Buffer.from([0, 0, 0, 2, 0, 0, 0, 3, 8, 2, 0, 0, 0])
  const rows = Buffer.from([1, 2, 3].flatMap((row) => [0, ...Array<number>(6).fill(row)]))
  const png = Buffer.concat([
    Buffer.from('\u0089PNG\r\n\u001A\n', 'latin1'),
    part('IHDR', header),
    part('IDAT', deflateSync(rows)),
    part('IEND', Buffer.alloc(0)),
  ])
  const kept = keepTop(png, 2)
  assert.equal(kept.readUInt32BE(20), 2)
  const at = kept.indexOf('IDAT')
  const pixels = inflateSync(kept.subarray(at + 4, at + 4 + kept.readUInt32BE(at - 4)))
  assert.deepEqual(pixels, rows.subarray(0, 14))
})
