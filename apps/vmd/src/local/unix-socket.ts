import { chmod, chown, lstat, rm } from 'node:fs/promises'
import { connect } from 'node:net'

import { Fault } from '@skerry/fault'
import type { FastifyInstance } from 'fastify'

const OWNER_ONLY = 0o600
const OWNER_AND_GROUP = 0o660
/** What a new file may not grant before its owner and mode are set. */
const UMASK = 0o177

/** Listens on a file that root and, where there is such a group, its members may write to. */
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

/** A socket that a killed vmd left is taken away; anything else is not ours. */
async function clearAway(path: string): Promise<void> {
  const there = await lstat(path).catch(() => undefined)
  if (!there) return
  if (there.isSocket() && !(await answers(path))) return rm(path, { force: true })
  throw new Fault('conflict', `${path} is ${there.isSocket() ? 'in use' : 'no socket'}`, {
    hint: 'name another file with --unix-socket',
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}
