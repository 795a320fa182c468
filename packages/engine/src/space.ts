import { statfs } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

/** What stays free for the records, the logs and the writes of guests that already run. */
export const RESERVE_BYTES = 256 * 1024 * 1024

/** Refuses work that would not fit, before anything of it is done. */
export async function requireRoom(directory: string, bytes: number, what: string): Promise<void> {
  const free = await freeBytes(directory)
  if (free - RESERVE_BYTES >= bytes) return
  throw new Fault(
    'no-room',
    `${what} needs ${mebibytes(bytes + RESERVE_BYTES)} MiB free in ${directory}, there are ${mebibytes(free)}`,
    { hint: 'delete VMs, snapshots or templates that are no longer needed, or add storage' },
  )
}

export async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2)
