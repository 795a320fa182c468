// Paths to allowed and barred directories, in unusual notations.
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'

import type { SeededRandom } from '../../../tools/lab/src/system/seeded-random.ts'

/** System directories, barred with everything below them. */
export const BARRED = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/lib',
  '/lib64',
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
] as const
/** Barred themselves, but not the users' directories below them. */
export const ONLY_BELOW = ['/', '/home', '/media', '/mnt', '/opt', '/srv', '/tmp', '/var'] as const

/** The identity of the directory that a path leads to: device and inode. */
export async function identity(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch(() => undefined)
  return facts && `${facts.dev}:${facts.ino}`
}

/** A path to the same directory with detours through `mine`, which is three directories deep. */
export function disguised(random: SeededRandom, path: string, mine: string): string {
  const disguises = [
    (each: string) => each,
    (each: string) => each.replaceAll('/', '//'),
    (each: string) => each.replaceAll('/', '/./'),
    (each: string) => `${each}/`,
    (each: string) => `${each}/.`,
    (each: string) => `${mine}/deep/../../../..${each}`,
    (each: string) => `/tmp/../..${each}`,
    (each: string) => `/proc/self/root${each}`,
    (each: string) => `${mine}/${'../'.repeat(20)}${each}`,
    (each: string) => `${each}/../${basename(path)}`,
  ] as const
  return random.pick(disguises)(random.pick(disguises)(path))
}

/** Paths that are never a directory of the host; `mine` is one and has a file named `file`. */
export const nowhere = (mine: string): readonly string[] => [
  '',
  '.',
  '..',
  'mine',
  './mine',
  '~',
  '~root',
  'C:\\',
  '\\\\host\\share',
  'file:///etc',
  `${mine}\0`,
  `\0${mine}`,
  `/etc\0${mine}`,
  `${mine}/file`,
  `${mine}/nowhere`,
  `${mine}/file/`,
  `/${'x'.repeat(5000)}`,
  `${mine}\n`,
  ` ${mine}`,
  `${mine}/%2e%2e`,
  mine.toUpperCase(),
]
