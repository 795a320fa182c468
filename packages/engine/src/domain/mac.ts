import { createHash } from 'node:crypto'

/** 40 bits derived from the VM's uuid after a locally administered prefix byte. */
export function macOf(uuid: string): string {
  const bytes = createHash('sha256').update(uuid).digest().subarray(0, 5)
  return ['52', ...Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'))].join(':')
}
