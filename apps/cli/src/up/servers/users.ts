// Users of the servers of a site. Users created by the Debian package are used as they are, and stay.
import { readFile } from 'node:fs/promises'

import { writeDurably } from '@skerry/durable-file'
import { handOver, userIn } from '@skerry/site'

import type { CliContext } from '../../command.ts'
import { askProgram } from '../../machine/child.ts'
import { Failure } from '../../terminal/failure.ts'
import { readKept } from '../site/keep.ts'
import { files, serverUsers, type Server } from '../site/site.ts'
import { must } from './administer.ts'

const USERADD = [
  'useradd',
  '--system',
  '--user-group',
  '--no-create-home',
  '--home-dir',
  '/nonexistent',
  '--shell',
  '/usr/sbin/nologin',
]

const readUsers = async (): Promise<string> => readFile('/etc/passwd', 'utf8')

export async function missingUsers(): Promise<readonly string[]> {
  const passwd = await readUsers()
  return serverUsers.filter((name) => userIn(passwd, name) === undefined)
}

/** Records the users before creating them: a recorded user that was never created does no harm. */
export async function addUsers(dir: string): Promise<void> {
  const { users: file } = files(dir)
  const missing = await missingUsers()
  const before = (await readKept<readonly string[]>(file)) ?? []
  await writeDurably(file, JSON.stringify([...new Set([...before, ...missing])]))
  for (const name of missing) await must(askProgram([...USERADD, name]), 'useradd')
}

/**
 * Gives the files of a server to its user. If that user cannot read our programs, e.g. in a home directory, the server runs as root,
 * which is reported.
 */
export async function forItsUser(
  server: Server,
  { complain }: Pick<CliContext, 'complain'>,
): Promise<Server> {
  const { user, config, title, command } = server
  if (user === undefined || config === undefined) return server
  const as = ['setpriv', '--reuid', user, '--regid', user, '--clear-groups', '--']
  for (const file of command.slice(0, 2)) {
    if ((await askProgram([...as, 'test', '-r', file])).code === 0) continue
    complain(
      `${title} runs as root, because its user ${user} cannot read ${file}: install the Debian package, or move the source tree to a world-readable directory`,
    )
    const { user: _, groups: __, ...asRoot } = server
    return asRoot
  }
  const found = userIn(await readUsers(), user)
  if (!found)
    throw new Failure('refused', `there is no user ${user}`, { hint: 'run skerry up again' })
  await handOver(config, found)
  return server
}

/** userdel fails for a user that still has processes; that user stays. */
export async function removeUsers(dir: string): Promise<void> {
  const made = (await readKept<readonly string[]>(files(dir).users)) ?? []
  for (const name of made) await askProgram(['userdel', name])
}
