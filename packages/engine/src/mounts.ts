import { constants } from 'node:fs'
import { mkdir, open, readFile, readlink, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { runTool } from './tool.ts'

/** The places below a directory, itself included, where something is mounted, deepest last. */
export async function mountsBelow(directory: string): Promise<string[]> {
  return (await mountTable())
    .map(({ place }) => place)
    .filter((place) => place === directory || place.startsWith(`${directory}/`))
}

/**
 * Makes a directory that can be handed out: nobody can write to it, and what is mounted below it
 * appears wherever it was handed out. It shows `points`, where only we get at it and make the
 * empty directories that mounts stand on: who could make those could make links in their place.
 */
export async function shareMounts(points: string, directory: string, aside: string): Promise<void> {
  const known = (await mountTable()).find(({ place }) => place === directory)
  if (known?.isShared && known.isReadOnly) return
  await unmount(directory)
  for (const each of [points, directory]) await mkdir(each, { recursive: true, mode: 0o755 })
  await showAt(points, directory, { aside, readOnly: true })
  // A group of its own, so that what is mounted here is not also mounted where `points` lies.
  await runTool('mount', ['--make-private', directory])
  await runTool('mount', ['--make-shared', directory])
}

/** How a directory is shown, and to whom it has to belong where that was asked for. */
export interface Showing {
  readonly aside: string
  readonly readOnly: boolean
  readonly owner?: number | undefined
}

/**
 * Shows a directory of the host at another place. The source is held open while it is mounted,
 * so what is shown is what was checked, even if its name means something else meanwhile.
 */
export async function showAt(
  source: string,
  place: string,
  { aside: asides, readOnly, owner }: Showing,
): Promise<void> {
  await using handle = await open(source, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const held = `/proc/${process.pid}/fd/${handle.fd}`
  // A link in the middle of the path is followed all the same: what counts is where it led. Another's directory may have
  // been given the same name without any link.
  const isOwned = owner === undefined || (await handle.stat()).uid === owner
  if (!isOwned || (await readlink(held)) !== source) {
    throw new Fault('conflict', `${source} was moved while it was being shared`, {
      hint: 'ask again',
    })
  }
  // Options of a mount do not travel to where the directory was handed out, but a copy has those
  // of its original: so they are set at a place aside, and the copy goes to where it is seen.
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

/** Takes away everything that is mounted at and below a place. */
export async function unmount(place: string): Promise<void> {
  const mounted = await mountsBelow(place)
  for (const each of mounted.toReversed()) await runTool('umount', ['-c', '-l', each])
}

/** Takes away a directory that nothing is left in; never what somebody keeps there. */
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

/** The kernel writes blanks, tabs, newlines and backslashes of a path as octal. */
function unescape(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
