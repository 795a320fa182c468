// What a site keeps in files.
import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { keepFile } from '../keep-file.ts'
import { makings, type Making } from './decide.ts'
import type { Settled } from './settled.ts'
import { files } from './site.ts'

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
  keepFile(files(dir).settled, `${JSON.stringify(settled, null, 2)}\n`)

/** Made before anything that has them, so that nobody is ever locked out of what a crash left half made. */
export async function passwordsOf(dir: string, secret: () => string): Promise<Passwords> {
  const { passwords: file } = files(dir)
  const kept = await readKept<Passwords>(file)
  if (kept) return kept
  const made = { postgres: secret(), administrator: secret(), owner: secret() }
  await keepFile(file, `${JSON.stringify(made, null, 2)}\n`)
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
  await keepFile(join(made, what), version)
}

export const versionOf = async (dir: string, what: Making): Promise<string> =>
  readFile(join(files(dir).made, what), 'utf8').catch(() => '')
