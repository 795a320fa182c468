import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

import { Fault } from '@skerry/fault'

/**
 * Writes down that this process is the vmd of this machine, or refuses: a second one would take
 * the work of the first for what a crash left behind. After a crash the number in the file is of nobody, or of a
 * process that began at another time.
 */
export async function requireOnlyOne(file: string, pid: number): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o711 })
  const own = `${pid} ${await beginningOf(pid)}\n`
  for (;;) {
    try {
      await using handle = await open(file, 'wx', 0o644)
      await handle.writeFile(own)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const [other = '', began] = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ')
    if (began !== undefined && (await beginningOf(Number(other))) === began) {
      throw new Fault('conflict', `vmd runs already, as process ${other}`, {
        hint: 'use that one, or stop it first',
      })
    }
    await rm(file, { force: true })
  }
}

/** When a process began, in the kernel's ticks; undefined when there is none of this number. */
async function beginningOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name in the second field may hold anything, a closing bracket too.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}
