import { open, readFile, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

import { makeDirectory, PASSABLE_DIRECTORY } from '@skerry/engine'
import { Fault } from '@skerry/fault'

/**
 * Records that this process is the vmd of this machine, or throws: a second vmd would take the running
 * work of the first for leftovers of a crash. After a crash the pid in the file is unused, or belongs to a
 * process with another start time.
 */
export async function requireOnlyOne(file: string, pid: number): Promise<void> {
  await makeDirectory(dirname(file), PASSABLE_DIRECTORY)
  const own = `${pid} ${await beginningOf(pid)}\n`
  for (;;) {
    try {
      await using handle = await open(file, 'wx', 0o600)
      await handle.writeFile(own)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const [other = '', began] = (await readFile(file, 'utf8').catch(() => '')).trim().split(' ')
    if (began !== undefined && (await beginningOf(Number(other))) === began) {
      throw new Fault('conflict', `vmd is already running as process ${other}`, {
        hint: 'use that one, or stop it first',
      })
    }
    await rm(file, { force: true })
  }
}

/** The start time of a process, in kernel ticks; undefined if it does not exist. */
async function beginningOf(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined)
  // The name in the second field may contain anything, including a closing parenthesis.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}
