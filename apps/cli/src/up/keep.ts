// Files of a site: each is the old one or the new one, whole, after a power cut too; only root reads what is secret.
import { access, mkdir, open, readdir, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { makings, type Making } from './decide.ts'
import type { Settled } from './settled.ts'
import { files } from './site.ts'

export async function keep(file: string, text: string): Promise<void> {
  const next = `${file}.next`
  {
    await using handle = await open(next, 'w', 0o600)
    await handle.writeFile(text)
    await handle.sync()
  }
  await rename(next, file)
  await using directory = await open(dirname(file), 'r')
  await directory.sync()
}

export const isThere = async (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  )

export interface Passwords {
  readonly postgres: string
  readonly administrator: string
  readonly owner: string
}

export const readKept = async <T>(file: string): Promise<T | undefined> =>
  (await isThere(file)) ? (JSON.parse(await readFile(file, 'utf8')) as T) : undefined

export const readSettled = async (dir: string): Promise<Settled | undefined> =>
  readKept<Settled>(files(dir).settled)

export const keepSettled = async (dir: string, settled: Settled): Promise<void> =>
  keep(files(dir).settled, `${JSON.stringify(settled, null, 2)}\n`)

/** Made before anything that has them, so that nobody is ever locked out of what a crash left half made. */
export async function passwordsOf(dir: string, secret: () => string): Promise<Passwords> {
  const { passwords: file } = files(dir)
  const kept = await readKept<Passwords>(file)
  if (kept) return kept
  const made = { postgres: secret(), administrator: secret(), owner: secret() }
  await keep(file, `${JSON.stringify(made, null, 2)}\n`)
  return made
}

export async function readMarks(dir: string): Promise<ReadonlySet<Making>> {
  const names = await readdir(files(dir).made).catch((): string[] => [])
  return new Set(makings.filter((each) => names.includes(each)))
}

/** `version`: of what it was made by, where that counts. */
export async function mark(dir: string, what: Making, version = ''): Promise<void> {
  const { made } = files(dir)
  await mkdir(made, { recursive: true, mode: 0o700 })
  await keep(join(made, what), version)
}

export const versionOf = async (dir: string, what: Making): Promise<string> =>
  readFile(join(files(dir).made, what), 'utf8').catch(() => '')
