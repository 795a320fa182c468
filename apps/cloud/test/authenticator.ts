// An app that makes the codes of a second factor, by RFC 6238 and 4648 and on the clock of the cell.
import { createHmac } from 'node:crypto'

import type { TenantsApi } from './tenants-api.ts'

const STEP_MS = 30_000
const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

const bytesOf = (secret: string): Buffer => {
  const bits = Array.from(secret, (letter) =>
    BASE32.indexOf(letter).toString(2).padStart(5, '0'),
  ).join('')
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}

/** A code of the next step: each counts once, so the clock of the cell goes on. `secret`: base32. */
export function nextCode({ time }: Pick<TenantsApi, 'time'>, secret: string): string {
  time.aheadMs += STEP_MS
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor((Date.now() + time.aheadMs) / STEP_MS)))
  const hash = createHmac('sha1', bytesOf(secret)).update(counter).digest()
  const start = (hash.at(-1) ?? 0) & 15
  return String((hash.readUInt32BE(start) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}
