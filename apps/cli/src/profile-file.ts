import { mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { Failure } from './failure.ts'
import { noProfiles, readProfiles, renderProfiles, type ProfileStore } from './profiles.ts'

const OTHERS = 0o077

/** Profiles in one file that its owner alone can read: tokens are in it. */
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
    const next = `${file}.${process.pid}.new`
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      // Whole or not at all: the old file stays until the new one lies beside it.
      await using handle = await open(next, 'w', 0o600)
      await handle.chmod(0o600)
      await handle.writeFile(renderProfiles(profiles))
      await handle.sync()
      await rename(next, file)
    } catch (error) {
      await rm(next, { force: true })
      throw failing(file, 'written', error)
    }
  },
})

const readable = (file: string): Failure =>
  new Failure('refused', `others can read ${file}, which holds tokens`, {
    hint: `chmod 600 ${file}; where somebody may have read it: skerry logout, and log in again`,
  })

function failing(file: string, what: string, cause: unknown): unknown {
  if (cause instanceof Failure || !(cause instanceof Error) || !('code' in cause)) return cause
  return new Failure('refused', `${file} cannot be ${what}: ${cause.message}`, { cause })
}
