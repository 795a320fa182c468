import { createHash } from 'node:crypto'

/** A UUID that is the same for the same words: rows without an id in PostgreSQL have such a one. */
export function derivedId(...words: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest()
  // Version 8: made by a rule of our own.
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x80, 6)
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8)
  const hex = hash.toString('hex', 0, 16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    hex.slice(12, 16),
    hex.slice(16, 20),
    hex.slice(20),
  ].join('-')
}

/** A MAC address of a router. Cards of VMs begin with 52:54:00, so the two never meet. */
export function derivedMac(...words: readonly string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(words)).digest()
  return [
    '0a',
    ...Array.from(hash.subarray(0, 5), (byte) => byte.toString(16).padStart(2, '0')),
  ].join(':')
}
