import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** A file that is the old one or the new one, whole, after a power cut too; its owner alone can read it. */
export async function keepFile(file: string, text: string): Promise<void> {
  // Two that write at once do not meet before the last step.
  const next = `${file}.${process.pid}.new`
  try {
    await using handle = await open(next, 'w', 0o600)
    // It may be what a killed process of that number left.
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
