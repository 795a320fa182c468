import type { Kysely } from 'kysely'

import type { WorkflowTables } from '../store/database.ts'
import { deleteOldRuns } from '../store/old-runs.ts'

export interface RunKeeperContext {
  readonly db: Kysely<WorkflowTables>
  /** How many days a run is kept after its end. */
  readonly days: number
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

const LOOK_MS = 60 * 60_000

/** Deletes expired runs once an hour until the signal aborts. */
export async function keepRuns(
  { db, days, pause, log }: RunKeeperContext,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      const gone = await deleteOldRuns(db, days, signal)
      if (gone > 0) log(`deleted ${gone} runs that ended more than ${days} days ago`)
    } catch (error) {
      log('cannot delete expired runs; the next attempt is in an hour', error)
    }
    await pause(LOOK_MS, signal)
  }
}
