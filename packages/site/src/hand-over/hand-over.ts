// Changes the owner of files to the user of a server. Runs as root in directories writable by that user, so no link is followed. That user
// can write the configuration too: a directory that it names is handed over only where servers have their files.
import { constants } from 'node:fs'
import { mkdir, open, readdir, readFile, readlink, type FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'
import { Fault } from '@skerry/fault'

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
/** What the units of the Debian package name as `StateDirectory`. */
const STATE_DIRECTORIES = ['/var/lib/skerry-network', '/var/lib/skerry/cloud-images']
/** `skerry up` has images beside the directory of the configuration. */
const IMAGES = 'images'
/** Writable for cells, and for data of anyone: only an empty directory in it can be one for images. */
const SERVED = '/srv'

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
  await giveTree(file, user)
  for (const each of files.trees) await giveNamed(each, file, user)
  if (files.socket === undefined) return
  await mkdir(files.socket, { recursive: true, mode: SOCKET_MODE })
  await using directory = await openIn(files.socket, O_DIRECTORY)
  if (directory) await setOwner(directory, user, SOCKET_MODE)
}

/** Gives a directory that the configuration names. One that is elsewhere and already belongs to the user is left as it is. */
async function giveNamed(path: string, file: string, user: User): Promise<void> {
  await using handle = await openIn(path, O_DIRECTORY)
  if (!handle) return
  const here = `/proc/self/fd/${handle.fd}`
  // Where it really is: a directory on the way could be a link.
  const place = await readlink(here)
  const home = await realPath(dirname(file))
  const { uid } = await handle.stat()
  const isEmpty = (await readdir(here)).length === 0
  const isShared =
    place === join(dirname(home), IMAGES) ||
    STATE_DIRECTORIES.some((each) => place === each || place.startsWith(`${each}/`)) ||
    (place.startsWith(`${SERVED}/`) && isEmpty)
  // One that belongs to another user is that of another server.
  const isFree = uid === 0 || uid === user.uid
  if (place.startsWith(`${home}/`) || (isShared && isFree)) return await giveOpened(handle, user)
  if (uid === user.uid) return
  throw new Fault('forbidden', `${file} names ${path}, which is not a directory of this server`, {
    hint: `if it is right: chown -R ${user.uid}:${user.gid} ${path}, then start the server again`,
  })
}

async function realPath(path: string): Promise<string> {
  await using handle = await open(path, O_RDONLY | O_DIRECTORY)
  return await readlink(`/proc/self/fd/${handle.fd}`)
}

async function giveTree(path: string, user: User): Promise<void> {
  await using handle = await openIn(path, 0)
  if (handle) await giveOpened(handle, user)
}

async function giveOpened(handle: FileHandle, user: User): Promise<void> {
  const found = await handle.stat()
  // By file descriptor: the name could refer to another file by now.
  const here = `/proc/self/fd/${handle.fd}`
  if (found.isDirectory()) {
    for (const name of await readdir(here)) await giveTree(join(here, name), user)
    return setOwner(handle, user, found.mode & OWNER_ONLY)
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
