import { sql, type Kysely } from 'kysely'

import type { WorkflowTables } from './database.ts'

/** The number of runs deleted in one transaction, with their logs and steps: small, so that locks are short. */
const AT_ONCE = 100

/**
 * Deletes runs that ended so many days ago, and whose grants have ended, with their child runs, steps, logs and interactions. Returns the number of deleted
 * outermost runs. Several servers may call it at once: one of them does the work. It ends early if the signal aborts.
 */
export async function deleteOldRuns(
  db: Kysely<WorkflowTables>,
  days: number,
  signal?: AbortSignal,
): Promise<number> {
  let gone = 0
  for (let part = AT_ONCE; part === AT_ONCE;) {
    if (signal?.aborted) break
    part = await db.transaction().execute(async (tx) => {
      const { rows: locked } = await sql<{ mine: boolean }>`
        select pg_try_advisory_xact_lock(hashtext('keep_runs')) as mine`.execute(tx)
      if (locked[0]?.mine !== true) return 0
      const { rows } = await sql`
        with old as materialized (
          select org, id from execution
          where ended_at < clock_timestamp() - make_interval(days => ${days}) and parent is null
            and grant_ended and not exists (select from execution inner_run where inner_run.org = execution.org
              and inner_run.parent = execution.id and (inner_run.ended_at is null or not inner_run.grant_ended))
          order by ended_at limit ${AT_ONCE})
        delete from execution using old where execution.org = old.org and execution.id = old.id
        returning 1`.execute(tx)
      return rows.length
    })
    gone += part
  }
  return gone
}
