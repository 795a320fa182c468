import { createHash } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { giveToOwner, renameDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'

export interface StoredImage {
  readonly digest: string
  readonly bytes: number
  readonly virtualBytes: number
}

/**
 * Copies an image into the store, where it is named after the SHA-256 of its bytes. The copy is
 * checked, because the original may still be changed by its owner. `mark` names the unfinished copy.
 */
export async function addImage(store: string, file: string, mark: string): Promise<StoredImage> {
  const temporary = join(store, `incoming-${mark}.tmp`)
  try {
    const digest = await copy(file, temporary)
    const { virtualBytes, fileBytes } = await checkImage(temporary, { expect: 'qcow2' })
    await renameDurably(temporary, join(store, digest))
    return { digest, bytes: fileBytes, virtualBytes }
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
}

async function copy(from: string, to: string): Promise<string> {
  await using source = await open(from, 'r').catch((cause: unknown) => {
    throw new Fault('not-found', `the image ${from} cannot be read`, { cause })
  })
  await using target = await open(to, 'wx', 0o600).catch((cause: unknown) => {
    throw new Fault('unavailable', `cannot write to ${to}`, { cause })
  })
  await giveToOwner(target, to)
  const hash = createHash('sha256')
  for await (const chunk of source.createReadStream({ autoClose: false })) {
    hash.update(chunk as Buffer)
    await writeAll(target, chunk as Buffer)
  }
  await target.sync()
  return hash.digest('hex')
}

async function writeAll(target: FileHandle, chunk: Buffer): Promise<void> {
  for (let done = 0; done < chunk.length;) {
    const { bytesWritten } = await target.write(chunk, done)
    done += bytesWritten
  }
}
