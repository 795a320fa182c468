// Goal: unused images are removed, and no others. Method: a real host with libvirt's in-memory driver and real files.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { link, readFile, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonWithoutRoot } from '@skerry/lab'

import { cachedImage, dropImages, hasImage, storeImage } from '../src/disk/image-cache.ts'
import { startEmulatedHost } from './emulated-host.ts'

const skip = reasonWithoutRoot('host') ?? false
const DAY_MS = 24 * 3_600_000

test('an image that no VM has used for a day is removed, and no other', { skip }, async () => {
  await using emulated = await startEmulatedHost()
  const { host } = emulated
  const bytes = await readFile(join(host.paths.data, 'templates/default.qcow2'))
  // Different bytes, and still valid images: data after the last cluster is ignored.
  const images = [0, 1, 2, 3].map((n) => Buffer.concat([bytes, Buffer.alloc(65_536, n)]))
  const digests: string[] = []
  const now = () => host.clock.now().getTime()
  for (const image of images) {
    const digest = createHash('sha256').update(image).digest('hex')
    const fetch = async () => ({
      bytes: (async function* () {
        yield image
      })(),
    })
    await storeImage(host, digest, fetch)
    digests.push(digest)
  }
  const [old, linked, young, busy] = digests as [string, string, string, string]
  const agedBy = (digest: string, ms: number) =>
    utimes(cachedImage(host.paths, digest), new Date(now() - ms), new Date(now() - ms))
  for (const digest of [old, linked, busy]) await agedBy(digest, DAY_MS + 1000)
  await agedBy(young, DAY_MS - 1000)
  await link(cachedImage(host.paths, linked), join(host.paths.data, 'layer-0.qcow2'))

  await host.locks.run(`image ${busy}`, async () => {
    assert.equal(await dropImages(host), 1)
  })
  const there = () => Promise.all(digests.map((digest) => hasImage(host, digest)))
  assert.deepEqual(await there(), [false, true, true, true])
  assert.equal(await dropImages(host), 1)
  assert.equal(await dropImages(host, 0), 1, 'if space is short, the recent one too')
  assert.deepEqual(await there(), [false, true, false, false])
})
