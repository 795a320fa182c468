// Parses the PNG variants that Chromium and QEMU write: 8 bits of red, green, blue and optionally alpha, not interlaced.
import { inflateSync } from 'node:zlib'

export interface Picture {
  readonly width: number
  readonly height: number
  /** Bytes per pixel. */
  readonly depth: number
  /** Row by row. */
  readonly points: Buffer
}

const SIGNATURE = 8
/** Length and name before, checksum after. */
const AROUND = 12
const depths: Readonly<Record<number, number>> = { 2: 3, 6: 4 }

export function readPng(png: Buffer): Picture {
  const parts = new Map<string, Buffer[]>()
  for (let at = SIGNATURE; at < png.length; at += png.readUInt32BE(at) + AROUND) {
    const name = png.toString('latin1', at + 4, at + 8)
    const data = png.subarray(at + 8, at + 8 + png.readUInt32BE(at))
    parts.set(name, [...(parts.get(name) ?? []), data])
  }
  const [head = Buffer.alloc(13)] = parts.get('IHDR') ?? []
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)]
  const depth = depths[head[9] ?? 0]
  if (head[8] !== 8 || depth === undefined || head[12] !== 0) {
    throw new Error('the picture must be a PNG of 8-bit RGB or RGBA without interlacing')
  }
  const rows = inflateSync(Buffer.concat(parts.get('IDAT') ?? []))
  return { width, height, depth, points: unfilter(rows, width * depth, height, depth) }
}

/** Each row is encoded relative to the bytes to the left and above (PNG, third edition, 9). */
function unfilter(rows: Buffer, length: number, height: number, depth: number): Buffer {
  const points = Buffer.alloc(length * height)
  for (let row = 0; row < height; row++) {
    const from = row * (length + 1)
    const kind = rows[from] ?? 0
    for (let at = 0; at < length; at++) {
      const to = row * length + at
      const left = at < depth ? 0 : (points[to - depth] ?? 0)
      const above = row === 0 ? 0 : (points[to - length] ?? 0)
      const corner = at < depth || row === 0 ? 0 : (points[to - length - depth] ?? 0)
      points[to] = (rows[from + 1 + at] ?? 0) + guess(kind, left, above, corner)
    }
  }
  return points
}

function guess(kind: number, left: number, above: number, corner: number): number {
  if (kind === 1) return left
  if (kind === 2) return above
  if (kind === 3) return (left + above) >> 1
  if (kind !== 4) return 0
  const near = [left, above, corner].map((each) => Math.abs(left + above - corner - each))
  const [a = 0, b = 0, c = 0] = near
  return a <= b && a <= c ? left : b <= c ? above : corner
}

/** The share of pixels lit in both pictures among those lit in either; none if hardly any is. */
export function likeness(one: Picture, other: Picture, fewest: number): number {
  if (one.width !== other.width || one.height !== other.height) return 0
  let [both, either] = [0, 0]
  for (let at = 0; at < one.width * one.height; at++) {
    const [first, second] = [isLit(one, at), isLit(other, at)]
    if (first && second) both += 1
    if (first || second) either += 1
  }
  return either < fewest ? 0 : both / either
}

function isLit({ points, depth }: Picture, at: number): boolean {
  const from = at * depth
  return Math.max(points[from] ?? 0, points[from + 1] ?? 0, points[from + 2] ?? 0) > 100
}
