// Checks whether this machine can run a cloud; reports all problems at once, with their fixes.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { ovnPrograms, packagedTemporal, temporalFiles } from '@skerry/site'
import type { MachineFinding } from '@skerry/vm'

import type { CliContext } from '../command.ts'
import { examine, findProgram, machinePlaces } from '../machine/checks.ts'
import { Failure } from '../terminal/failure.ts'
import { isThere } from './site/keep.ts'
import type { Programs } from './site/site-plan.ts'

const POSTGRES = '/usr/lib/postgresql'
const OLDEST_POSTGRES = 15

/** Checks that fail before the first `up` and that `up` itself fixes. */
const broughtAbout = (check: string): boolean =>
  !check.startsWith('program ') && !['libvirt', 'space', 'acceleration'].includes(check)

export async function requireMachine(context: CliContext, ourPostgres: boolean): Promise<void> {
  if (context.uid !== 0) {
    throw new Failure('refused', 'skerry up must run as root', {
      hint: 'sudo skerry up',
    })
  }
  const findings = (await examine(context, machinePlaces)).filter(
    ({ check }) => !broughtAbout(check),
  )
  const own: MachineFinding[] = []
  if (ourPostgres && (await postgresPrograms()) === undefined) {
    own.push({
      check: 'PostgreSQL',
      state: 'fail',
      found: `version ${OLDEST_POSTGRES} or newer not found`,
      fix: 'sudo apt install postgresql; or use an existing server: skerry up --database',
    })
  }
  if ((await findProgram('setpriv', context.path)) === undefined) {
    own.push({
      check: 'program setpriv',
      state: 'fail',
      found: 'not found',
      fix: 'sudo apt install util-linux',
    })
  }
  const failures = [...findings, ...own].filter(({ state }) => state === 'fail')
  if (failures.length === 0) return
  throw new Failure(
    'refused',
    ['this machine is not ready', ...failures.map(({ check, found }) => `${check}: ${found}`)].join(
      '; ',
    ),
    { hint: [...new Set(failures.map(({ fix }) => fix))].join('; ') },
  )
}

/** The program directory of the newest installed PostgreSQL of Debian. */
export async function postgresPrograms(): Promise<string | undefined> {
  const versions = (await readdir(POSTGRES).catch(() => []))
    .map(Number)
    .filter((version) => version >= OLDEST_POSTGRES)
    .sort((a, b) => b - a)
  for (const version of versions) {
    const bin = join(POSTGRES, String(version), 'bin')
    if ((await isThere(join(bin, 'postgres'))) && (await isThere(join(bin, 'initdb')))) return bin
  }
  return undefined
}

/** The Temporal programs of the Debian package; in a clone, those that are built into the cache. */
export async function temporalPrograms(
  cache: string,
  packaged: Programs = packagedTemporal(),
): Promise<Programs> {
  if (await isThere(packaged.server)) return packaged
  const { server, sql } = temporalFiles(cache)
  return { server, sql }
}

/** Whether the programs of OVN are installed, which only a network server needs. */
export async function hasOvn(): Promise<boolean> {
  return (await Promise.all(Object.values(ovnPrograms).map(isThere))).every(Boolean)
}
