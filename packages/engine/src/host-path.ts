import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'

import { Fault } from '@skerry/fault'

import { isInDotDirectory } from './homes.ts'
import type { Paths } from './paths.ts'

/** Directories that belong to the machine, with all that is below them. */
const SYSTEM = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/proc', '/root'],
  ...['/run', '/sbin', '/sys', '/usr', '/var/lib', '/var/log', '/var/run', '/var/spool'],
]
/** Not themselves, but what users keep below them. */
const ONLY_BELOW = ['/', '/home', '/media', '/mnt', '/opt', '/srv', '/tmp', '/var']

/**
 * The real path of a directory that a guest may be shown, or why it may not. Where a uid is given,
 * the directory must belong to it.
 */
export async function checkHostPath(
  { data, run }: Paths,
  hostPath: string,
  uid?: number,
): Promise<string> {
  if (!isAbsolute(hostPath) || hostPath.includes('\0')) {
    throw new Fault('invalid', 'a hostPath must be absolute')
  }
  const { real, owner, isDirectory, isKept } = await lookUp(hostPath)
  if (!isDirectory) throw new Fault('invalid', `${hostPath} is not a directory`)
  const ours = await Promise.all([data, run].map((place) => realpath(place).catch(() => place)))
  if (isKept || isBarred(real, [...SYSTEM, ...ours])) {
    throw new Fault('forbidden', `${hostPath} belongs to the system and is not shared`, {
      hint: 'share a directory of your own',
    })
  }
  if (uid !== undefined && owner !== uid) {
    throw new Fault('forbidden', `${hostPath} is not yours to share`, {
      hint: 'share a directory that you own',
    })
  }
  return real
}

interface Whereabouts {
  readonly real: string
  readonly owner: number
  readonly isDirectory: boolean
  /** Where programs keep what is nobody else's business. */
  readonly isKept: boolean
}

/** Names may change under our eyes: at every step what was there a moment ago may be gone. */
async function lookUp(hostPath: string): Promise<Whereabouts> {
  try {
    const real = await realpath(hostPath)
    const facts = await stat(real)
    const isKept = await isInDotDirectory(real)
    return { real, owner: facts.uid, isDirectory: facts.isDirectory(), isKept }
  } catch (cause) {
    throw new Fault('invalid', `there is no directory ${hostPath} on this host`, { cause })
  }
}

export function isBarred(real: string, barred: readonly string[] = SYSTEM): boolean {
  if (ONLY_BELOW.includes(real)) return true
  return barred.some((place) => contains(place, real) || contains(real, place))
}

const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(`${directory}/`)
