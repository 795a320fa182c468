import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file atomically, also across a power cut; only its owner can read it. */
export async function keepFile(file: string, text: string): Promise<void> {
  // Two concurrent writers use different temporary files.
  const next = `${file}.${process.pid}.new`
  try {
    await using handle = await open(next, 'w', 0o600)
    // The file may be left over from a killed process with the same pid.
    await handle.chmod(0o600)
    await handle.writeFile(text)
    await handle.sync()
    await rename(next, file)
  } catch (error) {
    await rm(next, { force: true })
    throw error
  }
  await using directory = await open(dirname(file), 'r')
  await directory.sync()
}
