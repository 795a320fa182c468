// What a crash may have left: asked for and never started, or canceled and never told.
import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'
import { ended, type ExecutionRow } from './executions.ts'

const MOST = 100

/** Written down so long ago, and not begun. Runs of schedules and inside of runs are Temporal's to begin. */
export async function listUnstarted(
  db: Kysely<Database>,
  seconds: number,
): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .where('state', '=', 'initializing')
    .where('parent', 'is', null)
    .where('schedule', 'is', null)
    .where('started_at', '<', ago(seconds))
    .orderBy('id')
    .limit(MOST)
    .execute()
}

/** Asked to end, and not ended. */
export async function listCanceled(db: Kysely<Database>): Promise<ExecutionRow[]> {
  return db
    .selectFrom('execution')
    .selectAll()
    .where('cancel', '=', true)
    .where('state', 'not in', ended)
    .orderBy('id')
    .limit(MOST)
    .execute()
}

/** Those that go on, some at a time, round and round. */
export async function listGoingOn(
  db: Kysely<Database>,
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
