import { statfs } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

import type { Paths } from './paths.ts'

/** What stays free for the records, the logs and the writes of guests that already run. */
export const RESERVE_BYTES = 256 * 1024 * 1024

/** Refuses work that would not fit, before anything of it is done. */
export async function requireRoom(paths: Paths, bytes: number, what: string): Promise<void> {
  const free = await freeBytes(paths)
  if (free - RESERVE_BYTES >= bytes) return
  throw new Fault(
    'no-room',
    `${what} needs ${mebibytes(bytes + RESERVE_BYTES)} MiB free in ${paths.data}, there are ${mebibytes(free)}`,
    { hint: 'delete VMs, snapshots or templates that are no longer needed, or add storage' },
  )
}

export async function freeBytes({ data }: Paths): Promise<number> {
  const { bavail, bsize } = await statfs(data)
  return bavail * bsize
}

const mebibytes = (bytes: number): number => Math.ceil(bytes / 1024 ** 2)
