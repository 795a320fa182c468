// QR codes of ISO/IEC 18004: bytes, error level M, versions 1 to 40. Pure: the terminal and the web UI draw the same modules.

/** Rows of modules without the quiet zone; true is dark. */
export type QrModules = readonly (readonly boolean[])[]

/** Light modules that a reader needs on every side. */
export const QUIET_MODULES = 4

// Error level M, by version: bytes of error correction in each block, and blocks.
const CHECK_BYTES =
  '10 16 26 18 24 16 18 22 22 26 30 22 22 24 24 28 28 26 26 26 26 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28 28'
const BLOCKS =
  '1 1 1 2 2 4 4 4 5 5 5 8 9 9 10 10 11 13 14 16 17 17 18 20 21 23 25 26 28 29 31 33 35 37 38 40 43 45 47 49'
const numbers = (text: string): readonly number[] => text.split(' ').map(Number)
const sizes = numbers(CHECK_BYTES).map((checkBytes, at) => ({
  version: at + 1,
  checkBytes,
  blocks: numbers(BLOCKS)[at] ?? 1,
}))

type QrSize = (typeof sizes)[number]

/** Modules for data, in bytes: all but the patterns, the format and the version. */
function allBytes(version: number): number {
  const aligned = version === 1 ? 0 : Math.floor(version / 7) + 2
  const patterns = version === 1 ? 0 : (25 * aligned - 10) * aligned - 55
  const modules = (16 * version + 128) * version + 64 - patterns - (version < 7 ? 0 : 36)
  return Math.floor(modules / 8)
}

const dataBytes = ({ version, checkBytes, blocks }: QrSize): number =>
  allBytes(version) - checkBytes * blocks

const lengthBits = (version: number): number => (version < 10 ? 8 : 16)

/** The code of a text, in the smallest version that it fits into. */
export function qrCode(text: string): QrModules {
  const bytes = new TextEncoder().encode(text)
  const size = sizes.find(
    (each) => 4 + lengthBits(each.version) + 8 * bytes.length <= 8 * dataBytes(each),
  )
  if (!size) throw new RangeError(`a QR code has no room for ${bytes.length} bytes`)
  const content = withChecks(padded(bytes, size), size)
  const patterns = patternsOf(size.version)
  const masked = MASKS.map((_, mask) => drawn(patterns, content, { mask, version: size.version }))
  const points = masked.map(penalty)
  return masked[points.indexOf(Math.min(...points))] ?? []
}

/** Mode and length before the bytes, an end and padding after them. */
function padded(bytes: Uint8Array, size: QrSize): readonly number[] {
  const room = dataBytes(size)
  const head = `0100${bits(bytes.length, lengthBits(size.version))}`
  const all = `${head}${Array.from(bytes, (byte) => bits(byte, 8)).join('')}0000`.slice(0, room * 8)
  const whole = all.padEnd(Math.ceil(all.length / 8) * 8, '0').match(/.{8}/g) ?? []
  return Array.from({ length: room }, (_, at) => {
    const own = whole[at]
    return own === undefined ? ((at - whole.length) % 2 === 0 ? 0xec : 0x11) : Number(`0b${own}`)
  })
}

const bits = (value: number, count: number): string => value.toString(2).padStart(count, '0')

/** Blocks with their error correction, interleaved. The last blocks have one byte more where they are not equal. */
function withChecks(data: readonly number[], { version, checkBytes, blocks }: QrSize): number[] {
  const long = allBytes(version) % blocks
  const short = Math.floor(data.length / blocks)
  const starts = Array.from(
    { length: blocks + 1 },
    (_, at) => at * short + Math.max(0, at - (blocks - long)),
  )
  const parts = starts.slice(1).map((end, at) => data.slice(starts[at], end))
  const divisor = generator(checkBytes)
  const checks = parts.map((part) => remainder(part, divisor))
  return [...interleaved(parts), ...interleaved(checks)]
}

const interleaved = (parts: readonly (readonly number[])[]): number[] =>
  Array.from({ length: Math.max(...parts.map(({ length }) => length)) }, (_, at) =>
    parts.flatMap((part) => part.slice(at, at + 1)),
  ).flat()

/** Product in GF(256) with x⁸ + x⁴ + x³ + x² + 1. */
function product(one: number, other: number): number {
  let result = 0
  for (let bit = 7; bit >= 0; bit--) {
    result = (result << 1) ^ ((result >>> 7) * 0x11d)
    result ^= ((other >>> bit) & 1) * one
  }
  return result
}

/** The polynomial whose roots are the first powers of 2, without its leading 1. */
function generator(degree: number): readonly number[] {
  let result = [...Array<number>(degree - 1).fill(0), 1]
  for (let at = 0, root = 1; at < degree; at++, root = product(root, 2)) {
    result = result.map((each, index) => product(each, root) ^ (result[index + 1] ?? 0))
  }
  return result
}

function remainder(data: readonly number[], divisor: readonly number[]): readonly number[] {
  let result = divisor.map(() => 0)
  for (const byte of data) {
    const factor = byte ^ (result[0] ?? 0)
    result = divisor.map((each, at) => (result[at + 1] ?? 0) ^ product(each, factor))
  }
  return result
}

type Mask = (row: number, column: number) => boolean
const MASKS: readonly Mask[] = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
]

/** Modules that do not depend on the content; undefined elsewhere. */
type Patterns = readonly (readonly (boolean | undefined)[])[]

function patternsOf(version: number): Patterns {
  const lines = Array.from({ length: 17 + 4 * version }, (_, at) => at)
  return lines.map((row) => lines.map((column) => patternAt(version, row, column)))
}

interface QrInformation {
  readonly version: number
  readonly mask: number
}

function drawn(patterns: Patterns, content: readonly number[], info: QrInformation): QrModules {
  const size = patterns.length
  const written = informationOf(info)
  const stream = content.map((byte) => bits(byte, 8)).join('')
  const modules = patterns.map((line, row) =>
    line.map((module, column) => written.get(row * size + column) ?? module ?? false),
  )
  let at = 0
  for (const [row, column] of zigzag(size)) {
    if (patterns[row]?.[column] !== undefined || written.has(row * size + column)) continue
    const line = modules[row] ?? []
    line[column] = (stream[at++] === '1') !== MASKS[info.mask]?.(row, column)
  }
  return modules
}

/** Finders in three corners, alignment patterns, and timing lines; undefined elsewhere. */
function patternAt(version: number, row: number, column: number): boolean | undefined {
  const last = 13 + 4 * version
  const away = (of: number, and: number): number =>
    Math.max(Math.abs(row - of), Math.abs(column - and))
  const finder = Math.min(away(3, 3), away(3, last), away(last, 3))
  if (finder <= 4) return finder !== 2 && finder !== 4
  for (const of of alignments(version)) {
    for (const and of alignments(version)) {
      const isInCorner = Math.min(of, and) === 6 && [6, last - 3].includes(Math.max(of, and))
      if (!isInCorner && away(of, and) <= 2) return away(of, and) !== 1
    }
  }
  if (row === 6 || column === 6) return (row + column) % 2 === 0
  return undefined
}

/** Rows and columns of the centres of alignment patterns. */
function alignments(version: number): readonly number[] {
  if (version === 1) return []
  const count = Math.floor(version / 7) + 2
  const step = Math.floor((8 * version + 3 * count + 5) / (4 * count - 4)) * 2
  return [6, ...Array.from({ length: count - 1 }, (_, at) => 10 + 4 * version - step * at)]
}

/** Level, mask and version, each written twice, by place. */
function informationOf({ version, mask }: QrInformation): ReadonlyMap<number, boolean> {
  const size = 17 + 4 * version
  const found = new Map<number, boolean>()
  const put = (row: number, column: number, isDark: boolean): void =>
    void found.set(row * size + column, isDark)
  // Level M is 00.
  const format = ((mask << 10) | division(mask, 10, 0x537)) ^ 0x5412
  for (let bit = 0; bit < 15; bit++) {
    const isDark = ((format >>> bit) & 1) === 1
    // The timing lines are left out.
    const near = bit < 6 ? bit : bit + 1
    if (bit < 8) put(near, 8, isDark)
    else put(8, bit === 8 ? 7 : 14 - bit, isDark)
    if (bit < 8) put(8, size - 1 - bit, isDark)
    else put(size - 15 + bit, 8, isDark)
  }
  put(size - 8, 8, true)
  if (version < 7) return found
  const written = (version << 12) | division(version, 12, 0x1f25)
  for (let bit = 0; bit < 18; bit++) {
    const isDark = ((written >>> bit) & 1) === 1
    const [long, short] = [size - 11 + (bit % 3), Math.floor(bit / 3)]
    put(long, short, isDark)
    put(short, long, isDark)
  }
  return found
}

/** The remainder of a BCH code. */
function division(value: number, degree: number, divisor: number): number {
  let rest = value
  for (let at = 0; at < degree; at++) rest = (rest << 1) ^ ((rest >>> (degree - 1)) * divisor)
  return rest
}

/** Two columns at a time from the right, up and down by turns, without the timing column. */
function* zigzag(size: number): Generator<readonly [row: number, column: number]> {
  for (let pair = 0; pair < (size - 1) / 2; pair++) {
    const right = size - 1 - 2 * pair
    const column = right <= 6 ? right - 1 : right
    for (let step = 0; step < size; step++) {
      const row = pair % 2 === 0 ? size - 1 - step : step
      yield [row, column]
      yield [row, column - 1]
    }
  }
}

/** How hard a code is to read: long runs, squares, what looks like a finder, and too much of one colour. */
function penalty(modules: QrModules): number {
  const size = modules.length
  const lines = modules.map((line) => line.map((module) => (module ? '1' : '0')).join(''))
  const columns = lines.map((_, at) => lines.map((line) => line[at]).join(''))
  let points = 0
  for (const line of [...lines, ...columns]) {
    for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) points += run.length - 2
    points += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length
  }
  for (let row = 1; row < size; row++) {
    for (let column = 1; column < size; column++) {
      const square = [lines[row - 1], lines[row]].map((line) => line?.slice(column - 1, column + 1))
      if (['0000', '1111'].includes(square.join(''))) points += 3
    }
  }
  const dark = lines.join('').replaceAll('0', '').length
  return points + 10 * Math.floor(Math.abs((20 * dark) / size ** 2 - 10))
}
