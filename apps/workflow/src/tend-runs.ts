import { Fault, passing } from '@skerry/fault'
import type { Kysely } from 'kysely'

import type { Database } from './store/database.ts'
import { failExecution, type ExecutionRow } from './store/executions.ts'
import { listCanceled, listGoingOn, listUnstarted } from './store/untended.ts'
import type { Grants, Runs } from './world.ts'

export interface Tending {
  readonly db: Kysely<Database>
  readonly runs: Pick<Runs, 'start' | 'cancel' | 'goesOn'>
  readonly grants: Pick<Grants, 'end'>
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

const LOOK_MS = 5_000
/** Whoever asked for it has been answered by then. */
const UNSTARTED_SECONDS = 15
/** A run that has just been started may not be seen everywhere yet. */
const LOST_SECONDS = 120
const LOST_PART = 50
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Catches up with what a crash left, until the signal says otherwise. Several servers may do it at once. */
export async function tendRuns(tending: Tending, signal: AbortSignal): Promise<void> {
  let after = FIRST
  while (!signal.aborted) {
    try {
      after = await tendOnce(tending, after)
    } catch (error) {
      if (!mayPass(error)) tending.log('runs could not be tended; it is tried again', error)
    }
    await tending.pause(LOOK_MS, signal)
  }
}

/** Answers where to go on the next time. */
export async function tendOnce({ db, runs, grants }: Tending, after: string): Promise<string> {
  const lose = async (execution: ExecutionRow, why: string) => {
    await failExecution(db, execution, why)
    if (execution.grant_id !== null) await grants.end(execution.grant_id).catch(() => undefined)
  }
  for (const execution of await listUnstarted(db, UNSTARTED_SECONDS)) {
    const { id, grant_id: grant, digest: definition, cancel } = execution
    if (grant === null || cancel) await lose(execution, 'the server stopped before it was started')
    else await runs.start({ execution: id, grant, definition })
  }
  for (const { id } of await listCanceled(db)) await runs.cancel(id)
  const looked = await listGoingOn(db, { after, seconds: LOST_SECONDS, limit: LOST_PART })
  for (const execution of looked) {
    // Runs live in Temporal alone: what it does not run any more does not go on.
    if (!(await runs.goesOn(execution.id))) await lose(execution, 'engine lost')
  }
  return looked.length < LOST_PART ? FIRST : (looked.at(-1)?.id ?? FIRST)
}

const mayPass = (error: unknown): boolean => error instanceof Fault && passing.has(error.kind)
