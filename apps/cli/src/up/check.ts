// Whether this machine can carry a cloud at all; what is amiss is told all at once, with how to mend it.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'

import { examine, findProgram, machinePlaces, type Finding } from '../checks.ts'
import type { World } from '../command.ts'
import { Failure } from '../failure.ts'
import { isThere } from './keep.ts'

const POSTGRES = '/usr/lib/postgresql'
const OLDEST_POSTGRES = 15

/** What `up` itself brings about is no fault of the machine. */
const broughtAbout = (check: string): boolean =>
  !check.startsWith('program ') && !['libvirt', 'space', 'acceleration'].includes(check)

export async function requireMachine(world: World, ourPostgres: boolean): Promise<void> {
  if (world.uid !== 0) {
    throw new Failure('refused', 'servers of a machine are started by root', {
      hint: 'sudo skerry up',
    })
  }
  const findings = (await examine(world, machinePlaces)).filter(({ check }) => !broughtAbout(check))
  const own: Finding[] = []
  if (ourPostgres && (await postgresPrograms()) === undefined) {
    own.push({
      ...{ check: 'PostgreSQL', state: 'fail', found: `none of ${OLDEST_POSTGRES} or newer` },
      mend: 'sudo apt install postgresql-15; or skerry up --database with one that runs already',
    })
  }
  if ((await findProgram('setpriv', world.path)) === undefined) {
    own.push({
      ...{ check: 'program setpriv', state: 'fail', found: 'not found' },
      mend: 'sudo apt install util-linux',
    })
  }
  const amiss = [...findings, ...own].filter(({ state }) => state === 'fail')
  if (amiss.length === 0) return
  throw new Failure(
    'refused',
    ['this machine is not ready', ...amiss.map(({ check, found }) => `${check}: ${found}`)].join(
      '; ',
    ),
    { hint: [...new Set(amiss.map(({ mend }) => mend))].join('; ') },
  )
}

/** The directory of the newest one that Debian has installed. */
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
