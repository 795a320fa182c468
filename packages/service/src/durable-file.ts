import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Replaces a file so that after a power cut it is the old one or the new one, whole. Only its owner may read it. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`
  try {
    await using handle = await open(temporary, 'w', 0o600)
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await renameDurably(temporary, file)
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await using directory = await open(dirname(to), 'r')
  await directory.sync()
}
