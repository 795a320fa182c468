// Goal: no uploaded image brings a file of the host into a template. Method: every known hostile image, through the import on a
// real host, with a canary to search for.
import assert from 'node:assert/strict'
import { createReadStream } from 'node:fs'
import { readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { hostileImages } from '../../packages/image/test/hostile-images.ts'
import { startPlace } from './guest.ts'

const skip = reasonToSkip('host', 'small') ?? false
const CANARY = 'the canary sings '

/** The files below a directory that contain the canary. */
async function singing(directory: string): Promise<string[]> {
  const found: string[] = []
  for (const name of await readdir(directory, { recursive: true })) {
    const file = join(directory, name)
    if (!(await stat(file).catch(() => undefined))?.isFile()) continue
    let before = ''
    for await (const chunk of createReadStream(file, 'latin1')) {
      const text = before + (chunk as string)
      if (text.includes(CANARY)) found.push(name)
      before = text.slice(-CANARY.length)
    }
  }
  return found
}

test('hostile images are rejected, and no file of the host has the canary', { skip }, async () => {
  await using place = await startPlace()
  const { engine, host, dir } = place
  const canary = join(dir, 'canary')
  await writeFile(canary, Buffer.alloc(64 * 1024, CANARY))
  const templates = join(host.dir, 'skerry/templates')
  const before = (await readdir(templates)).sort()
  // Some are hostile only because of their declared rules; an import has none.
  const hostile = hostileImages(canary).filter(({ rules }) => !Object.keys(rules ?? {}).length)
  assert(hostile.length >= 60, `only ${hostile.length} images`)

  for (const [index, { about, image, reason }] of hostile.entries()) {
    const file = join(dir, `image-${index}`)
    await writeFile(file, image)
    await assert.rejects(
      engine.importTemplate(`hostile-${index}`, file),
      { kind: 'image-refused', message: reason },
      about,
    )
  }
  assert.deepEqual((await readdir(templates)).sort(), before)
  assert.deepEqual(
    (await engine.listTemplates()).map(({ name }) => name),
    ['default'],
  )
  assert.deepEqual(await singing(host.dir), [])
  await writeFile(join(host.dir, 'proof'), `${'x'.repeat(65_530)}${CANARY}`)
  assert.deepEqual(await singing(host.dir), ['proof'], 'an existing canary is found')
})
