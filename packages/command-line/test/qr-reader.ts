// A reader of QR codes that shares nothing with the encoder: by the tables of ISO/IEC 18004, and with logarithms instead of products.
import assert from 'node:assert/strict'

import type { QrModules } from '../src/qr-code.ts'

/** Error level M: blocks, data bytes and all bytes of each; table 9 of the standard. */
const blocksOf: Readonly<
  Record<number, readonly (readonly [count: number, data: number, all: number])[]>
> = {
  1: [[1, 16, 26]],
  2: [[1, 28, 44]],
  3: [[1, 44, 70]],
  4: [[2, 32, 50]],
  5: [[2, 43, 67]],
  6: [[4, 27, 43]],
  7: [[4, 31, 49]],
  8: [
    [2, 38, 60],
    [2, 39, 61],
  ],
  9: [
    [3, 36, 58],
    [2, 37, 59],
  ],
  10: [
    [4, 43, 69],
    [1, 44, 70],
  ],
  14: [
    [4, 40, 64],
    [5, 41, 65],
  ],
  25: [
    [8, 47, 75],
    [13, 48, 76],
  ],
  40: [
    [18, 47, 75],
    [31, 48, 76],
  ],
}

/** Centres of alignment patterns; annex E. */
const centresOf: Readonly<Record<number, readonly number[]>> = {
  1: [],
  2: [6, 18],
  3: [6, 22],
  4: [6, 26],
  5: [6, 30],
  6: [6, 34],
  7: [6, 22, 38],
  8: [6, 24, 42],
  9: [6, 26, 46],
  10: [6, 28, 50],
  14: [6, 26, 46, 66],
  25: [6, 32, 58, 84, 110],
  40: [6, 30, 58, 86, 114, 142, 170],
}

/** Format bits of level M, by mask; table C.1. */
const formats = [
  '101010000010010',
  '101000100100101',
  '101111001111100',
  '101101101001011',
  '100010111111001',
  '100000011001110',
  '100111110010111',
  '100101010100000',
]

/** Version bits; table D.1. */
const versions: Readonly<Record<number, string>> = {
  7: '000111110010010100',
  8: '001000010110111100',
  9: '001001101010011001',
  10: '001010010011010011',
  14: '001110011000001101',
  25: '011001000111100001',
  40: '101000110001101001',
}

const masks: readonly ((i: number, j: number) => number)[] = [
  (i, j) => (i + j) % 2,
  (i) => i % 2,
  (_, j) => j % 3,
  (i, j) => (i + j) % 3,
  (i, j) => (Math.trunc(i / 2) + Math.trunc(j / 3)) % 2,
  (i, j) => ((i * j) % 2) + ((i * j) % 3),
  (i, j) => (((i * j) % 2) + ((i * j) % 3)) % 2,
  (i, j) => (((i * j) % 3) + ((i + j) % 2)) % 2,
]

const powers: number[] = [1]
for (let at = 1; at < 255; at++) {
  const next = (powers[at - 1] ?? 0) * 2
  powers.push(next > 255 ? next ^ 285 : next)
}
const logs = new Map(powers.map((power, at) => [power, at]))

/** The value of a polynomial at a power of 2; 0 for every block that has no error. */
function valueAt(block: readonly number[], power: number): number {
  return block.reduce((sum, coefficient, at) => {
    const log = logs.get(coefficient)
    if (log === undefined) return sum
    return sum ^ (powers[(log + power * (block.length - 1 - at)) % 255] ?? 0)
  }, 0)
}

export interface ReadCode {
  readonly version: number
  readonly mask: number
  readonly text: string
}

type Place = readonly [row: number, column: number]
type ReadPlaces = (places: readonly Place[]) => string

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)

/** Both copies of the version. */
function assertVersion(size: number, places: ReadPlaces): void {
  const below = upTo(18).map((n): Place => [size - 11 + (n % 3), Math.trunc(n / 3)])
  const wanted = versions[(size - 17) / 4] ?? ''
  assert.equal(places(below.toReversed()), wanted)
  assert.equal(places(below.toReversed().map(([i, j]): Place => [j, i])), wanted)
}

/** Reads a code, and asserts that nothing of it had to be corrected. */
export function readQr(modules: QrModules): ReadCode {
  const size = modules.length
  const version = (size - 17) / 4
  const at = (i: number, j: number): string => (modules[i]?.[j] ? '1' : '0')
  const places: ReadPlaces = (from) => from.map(([i, j]) => at(i, j)).join('')

  const first = places([
    ...[0, 1, 2, 3, 4, 5, 7, 8].map((j) => [8, j] as const),
    ...[7, 5, 4, 3, 2, 1, 0].map((i) => [i, 8] as const),
  ])
  const second = places([
    ...upTo(7).map((n) => [size - 1 - n, 8] as const),
    ...upTo(8).map((n) => [8, size - 8 + n] as const),
  ])
  assert.equal(first, second, 'both copies of the format')
  assert.equal(at(size - 8, 8), '1', 'the module that is always dark')
  const mask = formats.indexOf(first)
  assert.notEqual(mask, -1, first)
  if (version >= 7) assertVersion(size, places)

  const finder = ['1111111', '1000001', '1011101', '1011101', '1011101', '1000001', '1111111']
  for (const [top, left] of [
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ] as const) {
    for (const [n, line] of finder.entries()) {
      assert.equal(places(upTo(7).map((m) => [top + n, left + m])), line, 'a finder')
    }
  }
  const centres = centresOf[version] ?? assert.fail(`version ${version} is not in the tables`)
  const last = centres.at(-1) ?? 0
  const aligned = centres
    .flatMap((i) => centres.map((j) => [i, j] as const))
    .filter(([i, j]) => ![`6 6`, `6 ${last}`, `${last} 6`].includes(`${i} ${j}`))
  for (const [i, j] of aligned) {
    const square = ['11111', '10001', '10101', '10001', '11111']
    for (const [n, line] of square.entries()) {
      assert.equal(places(upTo(5).map((m) => [i - 2 + n, j - 2 + m])), line, 'an alignment pattern')
    }
  }
  const isData = (i: number, j: number): boolean =>
    !(i < 9 && j < 9) &&
    !(i < 9 && j >= size - 8) &&
    !(i >= size - 8 && j < 9) &&
    i !== 6 &&
    j !== 6 &&
    !(version >= 7 && ((i < 6 && j >= size - 11) || (j < 6 && i >= size - 11))) &&
    !aligned.some(([a, b]) => Math.abs(a - i) < 3 && Math.abs(b - j) < 3)

  let stream = ''
  let isUp = true
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5
    for (const n of upTo(size)) {
      const i = isUp ? size - 1 - n : n
      for (const j of [right, right - 1]) {
        if (isData(i, j)) stream += (at(i, j) === '1') === (masks[mask]?.(i, j) !== 0) ? '1' : '0'
      }
    }
    isUp = !isUp
  }
  const bytes = (stream.match(/.{8}/g) ?? []).map((text) => Number.parseInt(text, 2))
  return { version, mask, text: textIn(bytes, version) }
}

function textIn(bytes: readonly number[], version: number): string {
  const sizes = (blocksOf[version] ?? []).flatMap(([count, data, all]) =>
    Array.from({ length: count }, () => ({ data, all })),
  )
  assert.equal(
    bytes.length,
    sizes.reduce((sum, { all }) => sum + all, 0),
    'bytes of the version',
  )
  const blocks = sizes.map((): number[] => [])
  let next = 0
  const most = Math.max(...sizes.map(({ data }) => data))
  for (let at = 0; at < most; at++) {
    for (const [n, { data }] of sizes.entries()) {
      if (at < data) blocks[n]?.push(bytes[next++] ?? -1)
    }
  }
  while (next < bytes.length) for (const block of blocks) block.push(bytes[next++] ?? -1)
  for (const [n, block] of blocks.entries()) {
    const checks = (sizes[n]?.all ?? 0) - (sizes[n]?.data ?? 0)
    for (let power = 0; power < checks; power++)
      assert.equal(valueAt(block, power), 0, 'a syndrome')
  }
  const data = blocks.flatMap((block, n) => block.slice(0, sizes[n]?.data))
  const bits = data.map((byte) => byte.toString(2).padStart(8, '0')).join('')
  const head = version < 10 ? 12 : 20
  assert.equal(bits.slice(0, 4), '0100', 'bytes')
  const end = head + 8 * Number.parseInt(bits.slice(4, head), 2)
  const content = bits.slice(head, end).match(/.{8}/g) ?? []
  const rest = bits.slice(end + 4).match(/.{8}/g) ?? []
  assert.ok(/^0*$/.test(bits.slice(end, end + 4)), 'the end')
  for (const [n, pad] of rest.entries()) assert.equal(pad, n % 2 === 0 ? '11101100' : '00010001')
  return Buffer.from(content.map((text) => Number.parseInt(text, 2))).toString('utf8')
}
