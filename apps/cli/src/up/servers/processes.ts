// Servers as plain processes. They are found by a marker in their environment, never by name or by a pid file.
import { readdir, readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'

import { startDetached } from '../../machine/child.ts'
import type { Server } from '../site/site.ts'

/** Marker in the environment of each server and of its children; its value is the directory of the site. */
const MARK = 'SKERRY_UP'
const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

export async function findProcess(
  dir: string,
  { command }: Pick<Server, 'command'>,
): Promise<number | undefined> {
  const mark = `${MARK}=${dir}`
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const [line, environment] = await Promise.all(
      ['cmdline', 'environ'].map((file) =>
        readFile(`/proc/${name}/${file}`, 'utf8').catch(nothing),
      ),
    )
    // A zombie has no command line.
    if (!line || !environment?.split('\0').includes(mark)) continue
    if (line.replace(/\0$/, '').endsWith(command.join('\0'))) return Number(name)
  }
  return undefined
}
const nothing = (): string => ''

export function startProcess(dir: string, server: Server, output: Socket): number {
  const { command, user } = server
  const whole = user === undefined ? command : ['setpriv', ...asUser(server), '--', ...command]
  const HOME = user === undefined ? '/root' : '/nonexistent'
  return startDetached(whole, { output, env: { PATH, HOME, LC_ALL: 'C.UTF-8', [MARK]: dir } })
}

/** setpriv options for an unprivileged user: only the named groups, and only the capability to bind ports below 1024, if needed. */
export function asUser({ user = '', groups = [], listens }: Server): readonly string[] {
  const caps = listens.some((place) => isLowPort(place)) ? '-all,+net_bind_service' : '-all'
  return [
    '--reuid',
    user,
    '--regid',
    user,
    ...(groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups']),
    '--no-new-privs',
    `--inh-caps=${caps}`,
    `--ambient-caps=${caps}`,
    `--bounding-set=${caps}`,
  ]
}

const FIRST_FREE_PORT = 1024
export const isLowPort = (place: string): boolean =>
  Number(place.slice(place.lastIndexOf(':') + 1)) < FIRST_FREE_PORT

/** Sends a signal; false if the process is gone. Signal 0 only checks. */
export function signalTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}
