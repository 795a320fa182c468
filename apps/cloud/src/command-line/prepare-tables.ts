import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { keepLogins, openDatabase, prepareDatabase } from '@skerry/postgres'

import type { CloudConfig } from '../config.ts'
import type { CellLogins } from '../database/acting-as.ts'
import type { CloudTables } from '../database/tables.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const LOOK_AGAIN_MS = 1_000

interface At extends Pick<CloudConfig, 'database'> {
  /** The database logins that the cell uses after the migration. */
  readonly logins: CellLogins
}

/** Migrates the tables to this release. Several cells may do it at once; a database of a later release is rejected. */
export const prepareTables = ({ database }: Pick<CloudConfig, 'database'>): Promise<void> =>
  prepareDatabase({ url: database, applicationName: 'skerry admin' }, MIGRATIONS)

/** Creates the logins of a cell, and restricts the database to the cells and to the consoles that were created. */
export async function prepareLogins({ database, logins }: At): Promise<void> {
  const owner = openDatabase<CloudTables>({
    url: database,
    applicationName: 'skerry admin',
    size: 1,
  })
  try {
    const consoles = await owner.selectFrom('console_machine').select('login').execute()
    await keepLogins(
      owner,
      Object.values(logins),
      consoles.map(({ login }) => login),
    )
  } finally {
    await owner.destroy()
  }
}

interface Waiting {
  readonly pause: (ms: number) => Promise<void>
  readonly log: (message: string) => void
  readonly stopped: AbortSignal
}

/**
 * The same for a cell that starts. An unreachable database does not stop the start: it may have failed at the same time, and until it
 * is back every request is answered with "unavailable". Returns a function that waits for the rest of the preparation.
 */
export async function beginPreparing(
  at: At,
  { pause, log, stopped }: Waiting,
): Promise<() => Promise<void>> {
  const isDone = () =>
    prepareTables(at)
      .then(() => prepareLogins(at))
      .then(
        () => true,
        (error: unknown) => {
          if (error instanceof Fault && error.kind === 'unavailable') return false
          throw error
        },
      )
  let done = await isDone()
  if (!done) log('the database is unreachable; the tables are migrated when it is back')
  return async () => {
    while (!done && !stopped.aborted) {
      await pause(LOOK_AGAIN_MS)
      done = await isDone()
    }
  }
}
