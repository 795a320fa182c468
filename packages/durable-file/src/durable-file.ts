import { lstat, open, readdir, readFile, rename, rm, type FileHandle } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

const OWNER_ONLY = 0o600

/**
 * Replaces a file atomically: after a power cut it is the complete old or new one. Its owner is that of the directory or of the
 * replaced file, also if root writes it. Default mode: only the owner may read it.
 */
export async function writeDurably(file: string, text: string, mode = OWNER_ONLY): Promise<void> {
  // Two processes that write the same file use different names. The DHCP server ignores names that begin with a dot.
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
  // Removes the remains of a process with the same pid. The file must be new: another user may own the directory and could
  // have put a link there.
  await rm(temporary, { force: true })
  try {
    await using handle = await open(temporary, 'wx', mode)
    // Regardless of the umask.
    await handle.chmod(mode)
    await giveToOwner(handle, file)
    await handle.writeFile(text)
    await handle.sync()
    await rename(temporary, file)
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  await syncDirectory(dirname(file))
}

/** Removes what processes left that were killed while they wrote into this directory. */
export async function removeUnfinished(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    const pid = /^\..+\.(\d+)\.tmp$/.exec(name)?.[1]
    if (pid !== undefined && !isRunning(Number(pid)))
      await rm(join(directory, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
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

/** Renames within a directory. When this returns, the new name survives a power cut. */
export async function renameDurably(from: string, to: string): Promise<void> {
  await rename(from, to)
  await syncDirectory(dirname(to))
}

/** When this returns, names that were added to the directory, or removed from it, survive a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  await using handle = await open(directory, 'r')
  await handle.sync()
}
