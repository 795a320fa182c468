// Paths to what may be shared and to what may not, written as nobody would write them.
import { stat } from 'node:fs/promises'

import type { Random } from '../../xml/test/arbitrary.ts'

/** Directories that belong to the machine, with all that is below them. */
export const BARRED = [
  ...['/bin', '/boot', '/dev', '/etc', '/lib', '/lib64', '/proc', '/root', '/run', '/sbin', '/sys'],
  ...['/usr', '/var/lib', '/var/log', '/var/run', '/var/spool'],
] as const
/** Not themselves, but what users keep below them. */
export const ONLY_BELOW = ['/', '/home', '/media', '/mnt', '/opt', '/srv', '/tmp', '/var'] as const

/** Which directory a path leads to, as the kernel counts them. */
export async function identity(path: string): Promise<string | undefined> {
  const facts = await stat(path, { bigint: true }).catch(() => undefined)
  return facts && `${facts.dev}:${facts.ino}`
}

/** A path that leads to the same directory, by ways through `mine`, which lies three directories deep. */
export function disguised(random: Random, path: string, mine: string): string {
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
    (each: string) => `${each}/../${each.split('/').at(-1) ?? ''}`,
  ] as const
  return random.pick(disguises)(random.pick(disguises)(path))
}

/** What is no directory of a host however it is looked at; `mine` is one and has a file named `file`. */
export const nowhere = (mine: string): readonly string[] => [
  ...['', '.', '..', 'mine', './mine', '~', '~root', 'C:\\', '\\\\host\\share', 'file:///etc'],
  ...[`${mine}\0`, `\0${mine}`, `/etc\0${mine}`, `${mine}/file`],
  ...[`${mine}/nowhere`, `${mine}/file/`, `/${'x'.repeat(5000)}`],
  ...[`${mine}\n`, ` ${mine}`, `${mine}/%2e%2e`, mine.toUpperCase()],
]
