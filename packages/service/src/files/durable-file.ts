import { lstat, open, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { dirname } from 'node:path'

/**
 * Replaces a file atomically: after a power cut it is the complete old or new one. Only its owner may read it: the owner of the
 * directory or of the replaced file, also if root writes it.
 */
export async function writeDurably(file: string, text: string): Promise<void> {
  const temporary = `${file}.tmp`
  // Removes the remains of a crash. The file must be new: another user may own the directory and could have put a link there.
  await rm(temporary, { force: true })
  try {
    await using handle = await open(temporary, 'wx', 0o600)
    await giveToOwner(handle, file)
    await handle.writeFile(text)
    await handle.sync()
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await renameDurably(temporary, file)
}

/** Copies a text file with `writeDurably`. */
export async function copyDurably(from: string, to: string): Promise<void> {
  await writeDurably(to, await readFile(from, 'utf8'))
}

/** If root writes into the directory of a server's user, or replaces a file of that user, the user becomes the owner. */
export async function giveToOwner(handle: FileHandle, file: string): Promise<void> {
  if (process.getuid?.() !== 0) return
  for (const path of [dirname(file), file]) {
    const found = await lstat(path).catch(() => undefined)
    if (found === undefined || found.uid === 0) continue
    return handle.chown(found.uid, found.gid)
  }
}

export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await using directory = await open(dirname(to), 'r')
  await directory.sync()
}
