// Goal: every reader reads our QR codes. Method: a reader of its own, by the tables of the standard, which corrects nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { qrCode } from '../src/qr-code.ts'
import { readQr } from './qr-reader.ts'

/** Any bytes of ASCII, so that no two codes are alike. */
const textOf = (length: number): string =>
  Array.from({ length }, (_, at) => String.fromCodePoint(33 + ((at * 7 + length) % 90))).join('')

test('texts of every length up to the last byte of a version are read back without a correction', () => {
  for (const [length, version] of [
    [0, 1],
    [1, 1],
    [14, 1],
    [15, 2],
    [26, 2],
    [42, 3],
    [43, 4],
    [62, 4],
    [84, 5],
    [106, 6],
    [107, 7],
    [122, 7],
    [152, 8],
    [180, 9],
    [181, 10],
    [213, 10],
    [362 - 3, 14],
    [1000 - 3, 25],
  ] as const) {
    const text = textOf(length)
    const read = readQr(qrCode(text))
    assert.deepEqual([read.text, read.version], [text, version])
  }
})

test('the address of a second factor, with names of any language, is read back', () => {
  for (const name of ['alice@eng', 'Zoë@Größe', '山田@日本', 'a b&c%@x']) {
    const label = encodeURIComponent(`cloud.example:${name}`)
    const address = `otpauth://totp/${label}?secret=${'JBSWY3DPEHPK3PXP'.repeat(2)}&issuer=cloud.example&algorithm=SHA1&digits=6&period=30`
    assert.equal(readQr(qrCode(address)).text, address)
  }
  assert.equal(readQr(qrCode('Größe 山 😀')).text, 'Größe 山 😀')
})

test('all masks are used: the one that is read best is chosen', () => {
  const masks = new Set(
    Array.from({ length: 60 }, (_, length) => readQr(qrCode(textOf(length))).mask),
  )
  assert.equal(masks.size, 8)
})

test('a text that fits into no version is refused', () => {
  assert.throws(() => qrCode(textOf(2332)), /no room for 2332 bytes/)
})
