// Builds an image once and caches it outside the repository, under a name that changes with its inputs.
import { createHash } from 'node:crypto'
import { existsSync, globSync, statSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { cacheDirectory } from '../lab/src/system/cache-directory.ts'
import { lockFile } from '../lab/src/system/lock-file.ts'
import { versionsOf } from './debian-archive.ts'
import type { Recipe } from './recipe.ts'

const say = (line: string) => void process.stderr.write(`guest image: ${line}\n`)

/** The path of the image; builds it first if it is missing. Concurrent callers wait for the same build. */
export async function cachedImage(recipe: Recipe): Promise<string> {
  const image = await placeInCache(recipe)
  if (existsSync(image)) return image
  await using _ = await lockFile(join(cacheDirectory(), `guest-${recipe.kind}.lock`))
  if (!existsSync(image)) await build(recipe, image)
  return image
}

/** The path of the image, built or not. */
export async function placeInCache(recipe: Recipe): Promise<string> {
  const cache = cacheDirectory()
  await mkdir(cache, { recursive: true })
  const ours = await digestOf(recipe.files)
  const remembered = await recall(cache, recipe.kind, ours)
  if (remembered !== undefined) return remembered
  const versions = await versionsOf(recipe.packages)
  const name = createHash('sha256')
    .update(JSON.stringify([ours, versions]))
    .digest('hex')
    .slice(0, 16)
  const image = join(cache, `guest-${recipe.kind}-${name}.qcow2`)
  await remember(cache, recipe.kind, ours, image)
  return image
}

async function build(recipe: Recipe, image: string): Promise<void> {
  const began = performance.now()
  say(`building ${image}; this happens once`)
  const work = await mkdtemp(join(tmpdir(), `guest-${recipe.kind}-`))
  const unfinished = `${image}.unfinished`
  try {
    await recipe.build(work, unfinished, say)
    await rename(unfinished, image)
  } finally {
    await rm(unfinished, { force: true })
    await rm(work, { recursive: true, force: true })
  }
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  say(`built in ${seconds} s, ${Math.round(statSync(image).size / 1e6)} MB`)
}

async function digestOf(paths: readonly string[]): Promise<string> {
  const digest = createHash('sha256')
  for (const path of paths) {
    const files = statSync(path).isDirectory() ? globSync('**', { cwd: path }).sort() : ['']
    for (const file of files) {
      const full = join(path, file)
      if (statSync(full).isFile())
        digest
          .update(file)
          .update('\0')
          .update(await readFile(full))
    }
  }
  return digest.digest('hex')
}

// apt takes a second to report versions. They cannot have changed as long as our files, apt's lists and the installed packages are
// the same, so the last result is cached with that state.
interface Remembered {
  readonly state: string
  readonly image: string
}

function stateOf(ours: string): string {
  const changed = ['/var/lib/apt/lists', '/var/lib/dpkg/status'].map(
    (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0,
  )
  return [ours, ...changed].join(' ')
}

async function recall(cache: string, kind: string, ours: string): Promise<string | undefined> {
  try {
    const text = await readFile(join(cache, `guest-${kind}.json`), 'utf8')
    const { state, image } = JSON.parse(text) as Remembered
    return state === stateOf(ours) ? image : undefined
  } catch {
    return undefined
  }
}

async function remember(cache: string, kind: string, ours: string, image: string): Promise<void> {
  const file = join(cache, `guest-${kind}.json`)
  const remembered: Remembered = { state: stateOf(ours), image }
  const unfinished = `${file}.${process.pid}`
  await writeFile(unfinished, JSON.stringify(remembered))
  await rename(unfinished, file)
}
