// Goal: a QR code on a terminal is the one that was drawn. Method: its characters are read back as modules.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stripVTControlCharacters } from 'node:util'

import { qrCode } from '@skerry/command-line/qr-code'

import { readQr } from '../../../packages/command-line/test/qr-reader.ts'
import { qrBlocks } from '../src/terminal/qr-blocks.ts'

const QUIET = 4
/** What a character draws in its upper and its lower half. */
const halves: Readonly<Record<string, readonly [boolean, boolean]>> = {
  ' ': [false, false],
  '▄': [false, true],
  '▀': [true, false],
  '█': [true, true],
}

/** The dark modules of a code, without its quiet zone, which must be light. */
function modulesOf(lines: readonly string[], isDrawnDark: boolean): boolean[][] {
  const rows = lines.flatMap((line) =>
    [0, 1].map((half) =>
      line
        .split('')
        .map((letter) => (halves[letter]?.[half] ?? assert.fail(letter)) === isDrawnDark),
    ),
  )
  const size = (rows[0]?.length ?? 0) - 2 * QUIET
  const inner = rows.slice(QUIET, QUIET + size).map((row) => row.slice(QUIET, QUIET + size))
  const count = (all: readonly (readonly boolean[])[]) => all.flat().filter(Boolean).length
  assert.equal(count(rows.slice(0, size + 2 * QUIET)), count(inner), 'the quiet zone is light')
  return inner
}

test('with colours a code is black on white, without them its light modules are drawn', () => {
  const text =
    'otpauth://totp/cloud.example:alice%40eng?secret=JBSWY3DPEHPK3PXP&issuer=cloud.example'
  const coloured = qrBlocks(qrCode(text), true).split('\n')
  const [before, after] = ['\u001B[38;5;16;48;5;231m', '\u001B[0m']
  assert.ok(coloured.every((line) => line.startsWith(before) && line.endsWith(after)))
  assert.equal(readQr(modulesOf(coloured.map(stripVTControlCharacters), true)).text, text)
  const plain = qrBlocks(qrCode(text), false).split('\n')
  assert.equal(readQr(modulesOf(plain, false)).text, text)
})
