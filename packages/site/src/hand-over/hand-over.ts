// Changes the owner of files to the user of a server. Runs as root in directories writable by that user, so no link is followed.
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import { serverFiles } from './server-files.ts'

export interface User {
  readonly uid: number
  readonly gid: number
}

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants
const PASSABLE = 0o111
/** Only the owner has access. */
const OWNER_ONLY = 0o700
const SOCKET_MODE = 0o710

/** The user of this name in the text of /etc/passwd. */
export function userIn(passwd: string, name: string): User | undefined {
  const line = passwd.split('\n').find((each) => each.startsWith(`${name}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
}

/** Gives all files that the server of this configuration needs to its user; idempotent. */
export async function handOver(file: string, user: User): Promise<void> {
  const files = serverFiles(file, await readFile(file, 'utf8'))
  if (files.text !== undefined) await writeDurably(file, files.text)
  // The directory itself may hold files of several users, so root keeps it.
  await using home = await openIn(dirname(file), O_DIRECTORY)
  if (home) await home.chmod(((await home.stat()).mode & 0o777) | PASSABLE)
  for (const each of [file, ...files.trees]) await giveTree(each, user)
  if (files.socket === undefined) return
  await mkdir(files.socket, { recursive: true, mode: SOCKET_MODE })
  await using directory = await openIn(files.socket, O_DIRECTORY)
  if (directory) await setOwner(directory, user, SOCKET_MODE)
}

async function giveTree(path: string, user: User): Promise<void> {
  await using handle = await openIn(path, 0)
  if (!handle) return
  const found = await handle.stat()
  // By file descriptor: the name could refer to another file by now.
  const here = `/proc/self/fd/${handle.fd}`
  if (found.isDirectory()) {
    for (const name of await readdir(here)) await giveTree(join(here, name), user)
    return await setOwner(handle, user, found.mode & OWNER_ONLY)
  }
  // A file with several hard links may belong to others by another name.
  if (found.isFile() && found.nlink === 1) await setOwner(handle, user, found.mode & OWNER_ONLY)
}

async function setOwner(handle: FileHandle, { uid, gid }: User, mode: number): Promise<void> {
  const found = await handle.stat()
  if (found.uid !== uid || found.gid !== gid) await handle.chown(uid, gid)
  if ((found.mode & 0o7777) !== mode) await handle.chmod(mode)
}

/** undefined if the file is missing, a link or a socket. */
async function openIn(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | flags)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ELOOP', 'ENXIO', 'ENOTDIR'].includes(code)) return undefined
    throw error
  }
}
