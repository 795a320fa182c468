import { mkdir, readFile, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import { Failure } from '../terminal/failure.ts'
import { noProfiles, readProfiles, renderProfiles, type ProfileStore } from './profiles.ts'

const OTHERS = 0o077

/** Stores profiles in a file that only its owner can read, because it contains tokens. */
export const profileFile = (file: string): ProfileStore => ({
  file,
  async read() {
    try {
      const { mode } = await stat(file)
      if ((mode & OTHERS) !== 0) throw readable(file)
      return readProfiles(await readFile(file, 'utf8'), file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return noProfiles
      throw failing(file, 'read', error)
    }
  },
  async write(profiles) {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeDurably(file, renderProfiles(profiles))
    } catch (error) {
      throw failing(file, 'written', error)
    }
  },
})

const readable = (file: string): Failure =>
  new Failure('refused', `others can read ${file}, which contains tokens`, {
    hint: `chmod 600 ${file}; if the tokens may have leaked: skerry logout, and log in again`,
  })

function failing(file: string, what: string, cause: unknown): unknown {
  if (cause instanceof Failure || !(cause instanceof Error) || !('code' in cause)) return cause
  return new Failure('refused', `${file} cannot be ${what}: ${cause.message}`, { cause })
}
