import { createHash } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { checkImage } from '@skerry/image'

import type { Host } from './host.ts'
import { imagesDirectory, type Paths } from './paths.ts'
import { syncDirectory } from './record.ts'
import { requireRoom } from './space.ts'

const DIGEST = /^[0-9a-f]{64}$/
/** An image that no VM here has needed for a day is fetched again if one ever does. */
const UNNEEDED_MS = 24 * 3_600_000
/** Where room is short: only what was asked for a moment ago is on its way into a VM. */
const HURRIED_MS = 10 * 60_000

/** An image on its way here. */
export interface IncomingImage {
  readonly bytes: AsyncIterable<Uint8Array>
  /** How many there will be, where that is known. */
  readonly length?: number | undefined
}

export interface StoreOptions {
  readonly signal?: AbortSignal
  /** Takes how far it is, from 0 to 100. */
  readonly progress?: (percent: number) => void
}

export const cachedImage = (paths: Paths, digest: string): string =>
  join(imagesDirectory(paths), `${digest}.qcow2`)

export async function hasImage({ paths }: Host, digest: string): Promise<boolean> {
  return (await stat(cachedImage(paths, digest)).catch(() => undefined)) !== undefined
}

/**
 * Makes the image with this SHA-256 be here; `fetch` is asked for it only where it is not. Its
 * bytes are judged whole before it has its name: what has that name is what it says.
 */
export function storeImage(
  host: Host,
  digest: string,
  fetch: () => Promise<IncomingImage>,
  options: StoreOptions = {},
): Promise<void> {
  if (!DIGEST.test(digest)) return Promise.reject(new Fault('invalid', 'this is no SHA-256'))
  return host.turns.take(`image ${digest}`, async () => {
    options.signal?.throwIfAborted()
    const file = cachedImage(host.paths, digest)
    await mkdir(imagesDirectory(host.paths), { recursive: true, mode: 0o711 })
    if (await hasImage(host, digest)) {
      // Whoever empties the cache takes the one that was not asked for the longest.
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
      await rename(unfinished, file)
      await syncDirectory(imagesDirectory(host.paths))
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
  await requireRoom(host.paths.data, length ?? 0, 'an image').catch(async () => {
    await dropImages(host, HURRIED_MS)
    await requireRoom(host.paths.data, length ?? 0, 'an image')
  })
  const hash = createHash('sha256')
  await using handle = await open(file, 'w', 0o644)
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

/** Takes away what a host that died was in the middle of fetching. Only before another begins. */
export async function clearImages(paths: Paths): Promise<void> {
  const directory = imagesDirectory(paths)
  for (const name of await readdir(directory).catch(() => [])) {
    if (name.endsWith('.tmp')) await rm(join(directory, name))
  }
}

/**
 * Takes away the images that nobody needs, and answers how many. Every VM holds a link to its own: one that has no other link is
 * nobody's, and no race can take a base from a disk that stands on it.
 */
export async function dropImages(host: Host, unneededMs = UNNEEDED_MS): Promise<number> {
  const names = await readdir(imagesDirectory(host.paths)).catch(() => [])
  let dropped = 0
  for (const digest of names.map((name) => name.replace(/\.qcow2$/, ''))) {
    const turn = `image ${digest}`
    // One that somebody is at is needed; who waited for it here could wait for whoever waits for us.
    if (!DIGEST.test(digest) || host.turns.isTaken(turn)) continue
    await host.turns.take(turn, async () => {
      const file = cachedImage(host.paths, digest)
      const { nlink, mtimeMs } = await stat(file)
      if (nlink > 1 || host.clock.now().getTime() - mtimeMs < unneededMs) return
      await rm(file)
      dropped += 1
    })
  }
  return dropped
}
