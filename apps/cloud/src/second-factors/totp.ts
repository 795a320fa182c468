import { createHmac, timingSafeEqual } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const STEP_SECONDS = 30
/** RFC 4226 recommends 160 bits. */
export const SECRET_BYTES = 20

export function toBase32(bytes: Uint8Array): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? [])
    .map((five) => ALPHABET[Number.parseInt(five.padEnd(5, '0'), 2)])
    .join('')
}

/** Six digits of one step (RFC 6238). Apps everywhere know SHA-1, six digits and 30 s, and some of them nothing else. */
export function codeAt(secret: Uint8Array, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const hash = createHmac('sha1', secret).update(counter).digest()
  const start = (hash.at(-1) ?? 0) & 0xf
  return String((hash.readUInt32BE(start) & 0x7fff_ffff) % 1_000_000).padStart(6, '0')
}

/** The step of a time. */
export const stepAt = (now: Date): number => Math.floor(now.getTime() / 1000 / STEP_SECONDS)

/**
 * The step that a code is of, or undefined. A clock may be off by one step. A step that is not later than `used` is not taken: a person who
 * looks over a shoulder cannot use the same code.
 */
export function stepOf(
  secret: Uint8Array,
  code: string,
  now: Date,
  used: number,
): number | undefined {
  if (!/^\d{6}$/.test(code)) return undefined
  const current = stepAt(now)
  let found: number | undefined
  // All three are compared: the time that it takes reveals nothing.
  for (const step of [current - 1, current, current + 1]) {
    const fits = timingSafeEqual(Buffer.from(codeAt(secret, step)), Buffer.from(code))
    if (fits && step > used) found = step
  }
  return found
}

/** The address that an app reads as a QR code. Some apps show a plus as it is, so spaces are %20. */
export function otpauthAddress(secret: Uint8Array, user: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(user)}`
  return `otpauth://totp/${label}?secret=${toBase32(secret)}&issuer=${encodeURIComponent(issuer)}`
}
