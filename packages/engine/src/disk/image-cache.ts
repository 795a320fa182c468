import { createHash } from 'node:crypto'
import { open, readdir, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

import { renameDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'

import type { Host } from '../host/host.ts'
import { imagesDirectory, type Paths } from '../host/paths.ts'
import { makeDirectory, PRIVATE_DIRECTORY, PRIVATE_FILE } from '../host/private-files.ts'

const DIGEST = /^[0-9a-f]{64}$/
/** An image that no VM here has needed for a day is removed; it is fetched again if needed. */
const UNNEEDED_MS = 24 * 3_600_000
/** If space is short: only images requested recently are about to be used by a VM. */
const HURRIED_MS = 10 * 60_000

/** An image being transferred to this host. */
export interface IncomingImage {
  readonly bytes: AsyncIterable<Uint8Array>
  /** The total number of bytes, if known. */
  readonly length?: number | undefined
}

export interface StoreOptions {
  readonly signal?: AbortSignal
  /** Receives the progress, from 0 to 100. */
  readonly progress?: (percent: number) => void
}

export const cachedImage = (paths: Paths, digest: string): string =>
  join(imagesDirectory(paths), `${digest}.qcow2`)

export async function hasImage({ paths }: Host, digest: string): Promise<boolean> {
  return (await stat(cachedImage(paths, digest)).catch(() => undefined)) !== undefined
}

/**
 * Ensures that the image with this SHA-256 is on the host; `fetch` is called only if it is not. The
 * file gets its name only after its bytes are verified, so a file with that name is correct.
 */
export function storeImage(
  host: Host,
  digest: string,
  fetch: () => Promise<IncomingImage>,
  options: StoreOptions = {},
): Promise<void> {
  if (!DIGEST.test(digest)) return Promise.reject(new Fault('invalid', 'not a SHA-256 digest'))
  return host.locks.run(`image ${digest}`, async () => {
    options.signal?.throwIfAborted()
    const file = cachedImage(host.paths, digest)
    await makeDirectory(imagesDirectory(host.paths), PRIVATE_DIRECTORY)
    if (await hasImage(host, digest)) {
      // The modification time is the last use, by which the cache evicts.
      const now = host.clock.now()
      return utimes(file, now, now)
    }
    const unfinished = `${file}.tmp`
    try {
      const found = await receive(host, unfinished, await fetch(), options)
      if (found !== digest) {
        throw new Fault('image-refused', `the image’s SHA-256 is ${found}, not ${digest}`)
      }
      await checkImage(unfinished, { expect: 'qcow2' })
      await renameDurably(unfinished, file)
    } finally {
      await rm(unfinished, { force: true })
    }
  })
}

async function receive(
  host: Host,
  file: string,
  { bytes, length }: IncomingImage,
  { signal, progress }: StoreOptions,
): Promise<string> {
  const hold = () => host.room.hold(host.paths.data, length ?? 0, 'storing an image')
  using _ = await hold().catch(async () => {
    await dropImages(host, HURRIED_MS)
    return hold()
  })
  const hash = createHash('sha256')
  await using handle = await open(file, 'w', PRIVATE_FILE)
  let received = 0
  for await (const chunk of bytes) {
    signal?.throwIfAborted()
    hash.update(chunk)
    await handle.write(chunk)
    received += chunk.length
    if (length !== undefined && length > 0) progress?.(Math.min(100, (received / length) * 100))
  }
  await handle.sync()
  return hash.digest('hex')
}

/** Removes images that a crashed host was still fetching. Call it only before another fetch starts. */
export async function clearImages(paths: Paths): Promise<void> {
  const directory = imagesDirectory(paths)
  for (const name of await readdir(directory).catch(() => [])) {
    if (name.endsWith('.tmp')) await rm(join(directory, name))
  }
}

/**
 * Removes unused images and returns how many. Every VM holds a hard link to its image: an image without another link is unused,
 * and no race can remove the base of an existing disk.
 */
export async function dropImages(host: Host, unneededMs = UNNEEDED_MS): Promise<number> {
  const names = await readdir(imagesDirectory(host.paths)).catch(() => [])
  let dropped = 0
  for (const digest of names.map((name) => name.replace(/\.qcow2$/, ''))) {
    const turn = `image ${digest}`
    // An image whose lock is taken is in use. Waiting for the lock here could deadlock with its holder, which may wait for us.
    if (!DIGEST.test(digest) || host.locks.isHeld(turn)) continue
    await host.locks.run(turn, async () => {
      const file = cachedImage(host.paths, digest)
      const { nlink, mtimeMs } = await stat(file)
      if (nlink > 1 || host.clock.now().getTime() - mtimeMs < unneededMs) return
      await rm(file)
      dropped += 1
    })
  }
  return dropped
}
