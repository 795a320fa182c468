// Servers as processes of this machine: found by a mark that only they bear, never by a name or by a number in a file.
import { readdir, readFile } from 'node:fs/promises'

import { startDetached } from '../child.ts'
import type { Server } from './site.ts'

/** In the environment of each server; its value is the directory of the site. Who was born of a server has it too. */
const MARK = 'SKERRY_UP'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export async function findProcess(
  dir: string,
  { command }: Pick<Server, 'command'>,
): Promise<number | undefined> {
  const [pid] = await pidsWhere(dir, (line) => line.endsWith(command.join('\0')))
  return pid
}

/** Everything that came of the site's servers, they themselves included. */
export const findAll = async (dir: string): Promise<readonly number[]> => pidsWhere(dir, () => true)

async function pidsWhere(
  dir: string,
  accepts: (commandLine: string) => boolean,
): Promise<readonly number[]> {
  const mark = `${MARK}=${dir}`
  const found: number[] = []
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [line, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) =>
        readFile(`/proc/${name}/${file}`, 'utf8').catch(nothing),
      ),
    )
    // A process of which only its exit code is left has no line.
    if (!line || !environment?.split('\0').includes(mark)) continue
    if (accepts(line.replace(/\0$/, ''))) found.push(Number(name))
  }
  return found
}
const nothing = (): string => ''

export function startProcess(dir: string, { command, user, log }: Server): number {
  const as = user === undefined ? [] : ['--reuid', user, '--regid', user, '--clear-groups']
  const whole = user === undefined ? command : ['setpriv', ...as, '--', ...command]
  return startDetached(whole, {
    log,
    env: { PATH, HOME: '/root', LC_ALL: 'C.UTF-8', [MARK]: dir },
  })
}

/** Whether it was still there; 0 only asks. */
export function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
