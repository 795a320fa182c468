import { chmod, chown, lstat, rm } from 'node:fs/promises'
import { connect } from 'node:net'

import { Fault } from '@skerry/fault'
import type { FastifyInstance } from 'fastify'

const OWNER_ONLY = 0o600
const OWNER_AND_GROUP = 0o660
/** Restricts the new file until its owner and mode are set. */
const UMASK = 0o177

/** Listens on a socket file that root and, if there is such a group, its members may write to. */
export async function listenAtFile(
  server: FastifyInstance,
  path: string,
  gid: number | undefined,
): Promise<void> {
  await clearAway(path)
  const before = process.umask(UMASK)
  try {
    await server.listen({ path })
  } finally {
    process.umask(before)
  }
  if (gid !== undefined) await chown(path, 0, gid)
  await chmod(path, gid === undefined ? OWNER_ONLY : OWNER_AND_GROUP)
}

/** Removes a socket left by a killed vmd; any other file is not ours. */
async function clearAway(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  if (!there) return
  if (there.isSocket() && !(await isListening(path))) return rm(path, { force: true })
  throw new Fault('conflict', `${path} is ${there.isSocket() ? 'in use' : 'not a socket'}`, {
    hint: 'name another file with --unix-socket',
  })
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
