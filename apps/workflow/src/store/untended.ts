// Work that a crash may have left: runs that were recorded but not started, or canceled but not reported to Temporal, or ended with
// a valid grant, and deleted schedules with one.
import { sql, type Kysely } from 'kysely'

import type { WorkflowTables } from './database.ts'
import { ended, type ExecutionRow } from './executions.ts'

const MOST = 100

/**
 * Runs recorded this long ago and not started. Temporal starts scheduled and child runs itself. `keyedSeconds`: for runs without a
 * grant whose request has an Idempotency-Key, because a repeated request starts them.
 */
export async function listUnstarted(
  db: Kysely<WorkflowTables>,
  { seconds, keyedSeconds }: Readonly<{ seconds: number; keyedSeconds: number }>,
): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .where('state', '=', 'initializing')
    .where('parent', 'is', null)
    .where('schedule', 'is', null)
    .where('started_at', '<', ago(seconds))
    .where((eb) =>
      eb.or([
        eb('grant_id', 'is not', null),
        eb('request_key', 'is', null),
        eb('cancel', '=', true),
        eb('started_at', '<', ago(keyedSeconds)),
      ]),
    )
    .orderBy('id')
    .limit(MOST)
    .execute()
}

/** Cancellation requested, not ended yet. */
export async function listCanceled(db: Kysely<WorkflowTables>): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .where('cancel', '=', true)
    .where('state', 'not in', ended)
    .orderBy('id')
    .limit(MOST)
    .execute()
}

/** Runs that ended this long ago and whose grant may still be valid. */
export async function listGranted(
  db: Kysely<WorkflowTables>,
  seconds: number,
): Promise<Pick<ExecutionRow, 'id' | 'grant_id'>[]> {
  return db
    .selectFrom('execution')
    .select(['id', 'grant_id'])
    .where('ended_at', '<', ago(seconds))
    .where('grant_ended', '=', false)
    .orderBy('ended_at')
    .limit(MOST)
    .execute()
}

/** Schedules that were deleted this long ago and whose grant may still be valid. */
export async function listGrantedSchedules(
  db: Kysely<WorkflowTables>,
  seconds: number,
): Promise<string[]> {
  const rows = await db
    .selectFrom('schedule')
    .select('id')
    .where('deleted_at', '<', ago(seconds))
    .where('grant_ended', '=', false)
    .orderBy('deleted_at')
    .limit(MOST)
    .execute()
  return rows.map(({ id }) => id)
}

/** Active runs, a part at a time, in rotation. */
export async function listGoingOn(
  db: Kysely<WorkflowTables>,
  { after, seconds, limit }: Readonly<{ after: string; seconds: number; limit: number }>,
): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .where('state', 'not in', ended)
    .where('started_at', '<', ago(seconds))
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
}

const ago = (seconds: number) => sql<Date>`clock_timestamp() - make_interval(secs => ${seconds})`
