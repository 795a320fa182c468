// The stored state of a site.
import { access, mkdir, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import { makings, type Making } from './decide.ts'
import type { SitePlan } from './site-plan.ts'
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

export const readSettled = async (dir: string): Promise<SitePlan | undefined> =>
  readKept<SitePlan>(files(dir).settled)

export const keepSettled = async (dir: string, settled: SitePlan): Promise<void> =>
  writeDurably(files(dir).settled, `${JSON.stringify(settled, null, 2)}\n`)

/** Stored before anything uses them, so that a crash never leaves a server with an unknown password. */
export async function passwordsOf(dir: string, secret: () => string): Promise<Passwords> {
  const { passwords: file } = files(dir)
  const kept = await readKept<Passwords>(file)
  if (kept) return kept
  const made = { postgres: secret(), administrator: secret(), owner: secret() }
  await writeDurably(file, `${JSON.stringify(made, null, 2)}\n`)
  return made
}

export async function readMarks(dir: string): Promise<ReadonlySet<Making>> {
  const names = await readdir(files(dir).made).catch((): string[] => [])
  return new Set(makings.filter((each) => names.includes(each)))
}

/** `version`: the version of the tool that created it, if that matters. */
export async function mark(dir: string, what: Making, version = ''): Promise<void> {
  const { made } = files(dir)
  await mkdir(made, { recursive: true, mode: 0o700 })
  await writeDurably(join(made, what), version)
}

export const versionOf = async (dir: string, what: Making): Promise<string> =>
  readFile(join(files(dir).made, what), 'utf8').catch(() => '')
