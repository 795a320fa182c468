import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'

import { Fault } from '@skerry/fault'

import type { Paths } from '../host/paths.ts'
import { isInDotDirectory } from './homes.ts'

/** System directories, barred with everything below them. */
const SYSTEM = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/proc',
  '/root',
  '/run',
  '/sbin',
  '/sys',
  '/usr',
  '/var/lib',
  '/var/log',
  '/var/run',
  '/var/spool',
]
/** Barred themselves, but not the users' directories below them. */
const ONLY_BELOW = ['/', '/home', '/media', '/mnt', '/opt', '/srv', '/tmp', '/var']

/**
 * Returns the real path of a directory that a guest may see, or throws the reason why it may not.
 * If a uid is given, the directory must belong to it.
 */
export async function checkHostPath(
  { data, run }: Paths,
  hostPath: string,
  uid?: number,
): Promise<string> {
  if (!isAbsolute(hostPath) || hostPath.includes('\0')) {
    throw new Fault('invalid', 'hostPath must be absolute')
  }
  const { real, owner, isDirectory, isKept } = await lookUp(hostPath)
  if (!isDirectory) throw new Fault('invalid', `${hostPath} is not a directory`)
  const ours = await Promise.all([data, run].map((place) => realpath(place).catch(() => place)))
  if (isKept || isBarred(real, [...SYSTEM, ...ours])) {
    throw new Fault('forbidden', `${hostPath} belongs to the system and cannot be shared`, {
      hint: 'share a directory of your own',
    })
  }
  if (uid !== undefined && owner !== uid) {
    throw new Fault('forbidden', `${hostPath} is owned by another user`, {
      hint: 'share a directory that you own',
    })
  }
  return real
}

interface PathFacts {
  readonly real: string
  readonly owner: number
  readonly isDirectory: boolean
  /** In a directory where programs keep private data. */
  readonly isKept: boolean
}

/** The path may change concurrently: at every step a file that existed a moment ago may be gone. */
async function lookUp(hostPath: string): Promise<PathFacts> {
  try {
    const real = await realpath(hostPath)
    const facts = await stat(real)
    const isKept = await isInDotDirectory(real)
    return { real, owner: facts.uid, isDirectory: facts.isDirectory(), isKept }
  } catch (cause) {
    throw new Fault('invalid', `directory ${hostPath} not found on this host`, { cause })
  }
}

export function isBarred(real: string, barred: readonly string[] = SYSTEM): boolean {
  if (ONLY_BELOW.includes(real)) return true
  return barred.some((place) => contains(place, real) || contains(real, place))
}

const contains = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(`${directory}/`)
