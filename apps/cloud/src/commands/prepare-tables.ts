import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import { prepareDatabase } from '@skerry/postgres'

import type { Config } from '../config.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const LOOK_AGAIN_MS = 1_000

type At = Pick<Config, 'database'>

/** Brings the tables to what this release needs. Several cells may do it at once; a database of a later release is refused. */
export const prepareTables = ({ database }: At): Promise<void> =>
  prepareDatabase({ url: database, applicationName: 'skerry cloud' }, MIGRATIONS)

interface Waiting {
  readonly pause: (ms: number) => Promise<void>
  readonly log: (message: string) => void
  readonly stopped: AbortSignal
}

/**
 * The same for a cell that starts. A database that is away does not keep it from that: it may have died in the same moment, and until it
 * is back every request is answered that it is away. The answer is what is left to wait for.
 */
export async function beginPreparing(
  at: At,
  { pause, log, stopped }: Waiting,
): Promise<() => Promise<void>> {
  const isDone = () =>
    prepareTables(at).then(
      () => true,
      (error: unknown) => {
        if (error instanceof Fault && error.kind === 'unavailable') return false
        throw error
      },
    )
  let done = await isDone()
  if (!done) log('the database is away: its tables are looked at when it is back')
  return async () => {
    while (!done && !stopped.aborted) {
      await pause(LOOK_AGAIN_MS)
      done = await isDone()
    }
  }
}
