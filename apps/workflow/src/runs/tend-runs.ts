import { Fault, retryableKinds } from '@skerry/fault'
import type { Kysely } from 'kysely'

import type { Grants, Runs } from '../context.ts'
import type { WorkflowTables } from '../store/database.ts'
import { failExecution, markGrantEnded } from '../store/executions.ts'
import {
  listCanceled,
  listGoingOn,
  listGranted,
  listGrantedSchedules,
  listUnstarted,
} from '../store/untended.ts'
import { endSchedule } from './end-schedule.ts'

export interface RunSupervisorContext {
  readonly db: Kysely<WorkflowTables>
  readonly runs: Pick<Runs, 'start' | 'cancel' | 'goesOn' | 'schedules'>
  readonly grants: Pick<Grants, 'end'>
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
}

const LOOK_MS = 5_000
/** By then the caller has a response, or has repeated the request if it sent an Idempotency-Key. */
const unstarted = { seconds: 15, keyedSeconds: 120 }
/** A run that has just started may not be visible everywhere yet. */
const LOST_SECONDS = 120
const LOST_PART = 50
/** By then the run itself has ended its grant. */
const GRANTED_SECONDS = 10
/** By then the request that creates or deletes the schedule has ended. */
const SCHEDULE_SECONDS = 120
const FIRST = '00000000-0000-0000-0000-000000000000'

/** Repairs runs that a crash left unfinished, until the signal aborts. Several servers may do it at the same time. */
export async function tendRuns(tending: RunSupervisorContext, signal: AbortSignal): Promise<void> {
  let after = FIRST
  while (!signal.aborted) {
    try {
      after = await tendOnce(tending, after)
    } catch (error) {
      if (!mayPass(error)) tending.log('cannot reconcile runs; trying again', error)
    }
    await tending.pause(LOOK_MS, signal)
  }
}

/** Returns the run id to continue after in the next pass. */
export async function tendOnce(
  { db, runs, grants }: RunSupervisorContext,
  after: string,
): Promise<string> {
  for (const execution of await listUnstarted(db, unstarted)) {
    const { id, grant_id: grant, digest: definition, cancel } = execution
    if (grant === null || cancel) {
      await failExecution(db, execution, 'the server stopped before the run started')
    } else await runs.start({ execution: id, grant, definition })
  }
  for (const { id } of await listCanceled(db)) await runs.cancel(id)
  for (const { id, grant_id: grant } of await listGranted(db, GRANTED_SECONDS)) {
    await grants.end(grant ?? id)
    await markGrantEnded(db, id)
  }
  for (const schedule of await listGrantedSchedules(db, SCHEDULE_SECONDS)) {
    await db.transaction().execute((tx) => endSchedule({ runs, grants }, tx, schedule))
  }
  const looked = await listGoingOn(db, { after, seconds: LOST_SECONDS, limit: LOST_PART })
  for (const execution of looked) {
    // Runs live only in Temporal: a run that Temporal does not know has ended.
    if (!(await runs.goesOn(execution.id))) {
      await failExecution(db, execution, 'Temporal lost the run')
    }
  }
  return looked.length < LOST_PART ? FIRST : (looked.at(-1)?.id ?? FIRST)
}

const mayPass = (error: unknown): boolean =>
  error instanceof Fault && retryableKinds.has(error.kind)
