import { constants } from 'node:fs'
import { mkdir, open, readFile, readlink, rmdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { Fault } from '@skerry/fault'

import { makeDirectory, PRIVATE_DIRECTORY, PUBLIC_DIRECTORY } from '../host/private-files.ts'
import { runTool } from '../host/tool.ts'

/** The mount points at and below a directory, deepest last. */
export async function mountsBelow(directory: string): Promise<string[]> {
  return (await mountTable())
    .map(({ place }) => place)
    .filter((place) => place === directory || place.startsWith(`${directory}/`))
}

/**
 * Creates a read-only directory for virtiofsd; a mount below it appears wherever the directory is
 * shared. It is a view of `points`, which only we can access and where we create the empty
 * directories to mount on: anyone who could create those could create symbolic links instead.
 */
export async function shareMounts(points: string, directory: string, aside: string): Promise<void> {
  const known = (await mountTable()).find(({ place }) => place === directory)
  if (known?.isShared && known.isReadOnly) return
  await unmount(directory)
  for (const each of [points, directory]) {
    // The shared folders may lie below an owner's directory that is closed to others; virtiofsd runs as root.
    await makeDirectory(dirname(each), PRIVATE_DIRECTORY)
    await makeDirectory(each, PUBLIC_DIRECTORY)
  }
  await showAt(points, directory, { aside, readOnly: true })
  // A peer group of its own, so that a mount here does not also appear below `points`.
  await runTool('mount', ['--make-private', directory])
  await runTool('mount', ['--make-shared', directory])
}

/** How a directory is shown, and the required owner, if any. */
export interface BindMountOptions {
  readonly aside: string
  readonly readOnly: boolean
  readonly owner?: number | undefined
}

/**
 * Bind-mounts a host directory at another place. The source is held open meanwhile, so the
 * directory shown is the one that was checked, even if its name now means another.
 */
export async function showAt(
  source: string,
  place: string,
  { aside: asides, readOnly, owner }: BindMountOptions,
): Promise<void> {
  await using handle = await open(source, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const held = `/proc/${process.pid}/fd/${handle.fd}`
  // A symbolic link in the middle of the path is followed nevertheless, so the resolved path is compared. A directory of
  // another user may have got the same name without any link, so the owner is compared too.
  const isOwned = owner === undefined || (await handle.stat()).uid === owner
  if (!isOwned || (await readlink(held)) !== source) {
    throw new Fault('conflict', `${source} was moved while it was being shared`, {
      hint: 'retry',
    })
  }
  // Mount options do not propagate to the shared directory's peers, but a bind mount inherits them from
  // its source. So they are set on a private mount, which is then bind-mounted to its final place.
  const aside = join(asides, String(handle.fd))
  await mkdir(aside, { recursive: true, mode: 0o700 })
  const options = ['remount', 'bind', 'nosuid', 'nodev', ...(readOnly ? ['ro'] : [])].join(',')
  try {
    await runTool('mount', ['-c', '--bind', held, aside])
    await runTool('mount', ['-c', '-o', options, aside])
    await runTool('mount', ['-c', '--bind', aside, place])
  } finally {
    await unmount(aside)
    await removeEmpty(aside)
  }
}

/** Unmounts everything at and below a place. */
export async function unmount(place: string): Promise<void> {
  const mounted = await mountsBelow(place)
  for (const each of mounted.toReversed()) await runTool('umount', ['-c', '-l', each])
}

/** Removes an empty directory; never one with content. */
export async function removeEmpty(directory: string): Promise<void> {
  await rmdir(directory).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT')
      throw new Fault('unavailable', `${directory} is not empty`, { cause: error })
  })
}

interface Mount {
  readonly place: string
  readonly isReadOnly: boolean
  readonly isShared: boolean
}

async function mountTable(): Promise<Mount[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, , , , place = '', options = '', ...more] = line.split(' ')
      return {
        place: unescape(place),
        isReadOnly: options.split(',').includes('ro'),
        isShared: more.slice(0, more.indexOf('-')).some((field) => field.startsWith('shared:')),
      }
    })
}

/** The kernel escapes blanks, tabs, newlines and backslashes of a path in octal. */
function unescape(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
