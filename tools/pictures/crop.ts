// Removes the lower part of a PNG. Each row of a PNG depends on the row above it, never on one below, so the upper rows can be kept
// without decoding them (PNG, third edition, 9).
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = 8
/** Length and name before, checksum after. */
const AROUND = 12
/** 8 bits of red, green and blue, as Chromium writes for an opaque page. */
const BYTES_PER_PIXEL = 3

export function keepTop(png: Buffer, rows: number): Buffer {
  const chunks: { name: string; data: Buffer }[] = []
  for (let at = SIGNATURE; at < png.length;) {
    const length = png.readUInt32BE(at)
    const name = png.toString('latin1', at + 4, at + 8)
    chunks.push({ name, data: png.subarray(at + 8, at + 8 + length) })
    at += length + AROUND
  }
  const header = Buffer.from(chunks[0]?.data ?? [])
  const [depth, colour, , , interlaced] = header.subarray(8)
  if (depth !== 8 || colour !== 2 || interlaced !== 0) {
    throw new Error('the picture must be a PNG of 8-bit RGB without interlacing')
  }
  const row = 1 + header.readUInt32BE(0) * BYTES_PER_PIXEL
  const pixels = inflateSync(
    Buffer.concat(chunks.filter(({ name }) => name === 'IDAT').map(({ data }) => data)),
  )
  header.writeUInt32BE(Math.min(rows, header.readUInt32BE(4)), 4)
  return Buffer.concat([
    png.subarray(0, SIGNATURE),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(pixels.subarray(0, rows * row), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

function chunk(name: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), data])
  const whole = Buffer.alloc(body.length + 8)
  whole.writeUInt32BE(data.length, 0)
  body.copy(whole, 4)
  whole.writeUInt32BE(crc32(body), body.length + 4)
  return whole
}
