import { createHash } from 'node:crypto'

/** 40 bits of the VM's uuid behind the byte of addresses that nobody owns. */
export function macOf(uuid: string): string {
  const bytes = createHash('sha256').update(uuid).digest().subarray(0, 5)
  return ['52', ...Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))].join(':')
}
