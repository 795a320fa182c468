import { constants } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

import { Fault } from '@skerry/fault'

import { TAIL_BYTES } from './foreign-formats.ts'
import { HEAD_BYTES } from './qcow2.ts'
import { refused } from './refused.ts'

/** The parts of a file that the check needs. */
export interface ImageEnds {
  readonly head: Buffer
  readonly tail: Buffer
  readonly fileBytes: bigint
}

/** Reads both ends of a regular file. A handle from the caller stays open; its position does not matter. */
export async function readEnds(file: string | FileHandle): Promise<ImageEnds> {
  if (typeof file !== 'string') return readEndsOf(file)
  await using handle = await openRegular(file)
  return await readEndsOf(handle)
}

async function readEndsOf(handle: FileHandle): Promise<ImageEnds> {
  const stat = await handle.stat({ bigint: true })
  if (!stat.isFile()) throw notRegular()
  const fileBytes = stat.size
  const headBytes = fileBytes < BigInt(HEAD_BYTES) ? Number(fileBytes) : HEAD_BYTES
  const head = await readAt(handle, 0n, headBytes)
  const tailStart = fileBytes > BigInt(TAIL_BYTES) ? fileBytes - BigInt(TAIL_BYTES) : 0n
  const tail =
    fileBytes <= BigInt(head.length)
      ? head.subarray(Number(tailStart))
      : await readAt(handle, tailStart, TAIL_BYTES)
  return { head, tail, fileBytes }
}

/** Follows no symbolic link, and does not block on a pipe. */
async function openRegular(path: string): Promise<FileHandle> {
  try {
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'ENOENT') throw new Fault('not-found', 'image not found', { cause: error })
    // A symbolic link gives ELOOP; a socket and a device without a driver give ENXIO or ENODEV.
    if (code === 'ELOOP' || code === 'ENXIO' || code === 'ENODEV') throw notRegular(error)
    throw error
  }
}

async function readAt(handle: FileHandle, position: bigint, bytes: number): Promise<Buffer> {
  const buffer = Buffer.alloc(bytes)
  let filled = 0
  while (filled < bytes) {
    const at = position + BigInt(filled)
    const { bytesRead } = await handle.read(buffer, filled, bytes - filled, at)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

function notRegular(cause?: unknown): Fault {
  return refused('it is not a regular file', cause)
}
