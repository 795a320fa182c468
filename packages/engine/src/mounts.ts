import { constants } from 'node:fs'
import { mkdir, open, readFile, readlink, rmdir } from 'node:fs/promises'
import { join } from 'node:path'

import { Fault } from '@skerry/fault'

import { runTool } from './tool.ts'

/** The places below a directory, itself included, where something is mounted, deepest last. */
export async function mountsBelow(directory: string): Promise<string[]> {
  const table = await readFile('/proc/self/mountinfo', 'utf8')
  return table
    .split('\n')
    .map((line) => unescape(line.split(' ')[4] ?? ''))
    .filter((place) => place === directory || place.startsWith(`${directory}/`))
}

/** Makes a directory one whose mounts appear wherever it was already handed out. */
export async function shareMounts(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o755 })
  if ((await mountsBelow(directory)).includes(directory)) return
  await runTool('mount', ['--bind', directory, directory])
  await runTool('mount', ['--make-shared', directory])
}

/**
 * Shows a directory of the host at another place. The source is held open while it is mounted,
 * so what is shown is what was checked, even if its name means something else meanwhile.
 */
export async function showAt(
  source: string,
  place: string,
  { aside: asides, readOnly }: { readonly aside: string; readonly readOnly: boolean },
): Promise<void> {
  await using handle = await open(source, constants.O_DIRECTORY | constants.O_NOFOLLOW)
  const held = `/proc/${process.pid}/fd/${handle.fd}`
  // A link in the middle of the path is followed all the same: what counts is where it led.
  if ((await readlink(held)) !== source) {
    throw new Fault('conflict', `${source} was moved while it was being shared`, {
      hint: 'ask again',
    })
  }
  // Options of a mount do not travel to where the directory was handed out, but a copy has those
  // of its original: so they are set at a place aside, and the copy goes to where it is seen.
  const aside = join(asides, String(handle.fd))
  await mkdir(aside, { recursive: true, mode: 0o700 })
  await mkdir(place, { recursive: true, mode: 0o755 })
  const options = ['remount', 'bind', 'nosuid', 'nodev', ...(readOnly ? ['ro'] : [])].join(',')
  try {
    await runTool('mount', ['-c', '--bind', held, aside])
    await runTool('mount', ['-c', '-o', options, aside])
    await runTool('mount', ['-c', '--bind', aside, place])
  } finally {
    await unmount(aside)
  }
}

/** Takes everything at and below a place away, and the empty directory with it. */
export async function unmount(place: string): Promise<void> {
  const mounted = await mountsBelow(place)
  for (const each of mounted.toReversed()) await runTool('umount', ['-c', '-l', each])
  await rmdir(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT')
      throw new Fault('unavailable', `${place} is not empty`, { cause: error })
  })
}

/** The kernel writes blanks, tabs, newlines and backslashes of a path as octal. */
function unescape(place: string): string {
  return place.replace(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  )
}
