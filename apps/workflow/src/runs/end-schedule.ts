import type { Kysely } from 'kysely'

import type { Grants, Runs, WorkflowRequestContext } from '../context.ts'
import type { WorkflowPrincipal } from '../identity/rights.ts'
import type { WorkflowTables } from '../store/database.ts'
import { lockGrantedSchedule, markScheduleEnded } from '../store/schedules.ts'

/** Ends what a deleted schedule has in Temporal and in the cloud, in a transaction. Safe to repeat. */
export async function endSchedule(
  {
    runs,
    grants,
  }: { readonly runs: Pick<Runs, 'schedules'>; readonly grants: Pick<Grants, 'end'> },
  tx: Kysely<WorkflowTables>,
  schedule: string,
): Promise<void> {
  const locked = await lockGrantedSchedule(tx, schedule)
  if (!locked) return
  await grants.end(locked.grant_id)
  await runs.schedules.delete(locked.id)
  await markScheduleEnded(tx, locked.id)
}

/** The same at the end of a request. If it fails, `tend-runs.ts` repeats it later. */
export async function tryToEndSchedule(
  context: Pick<WorkflowRequestContext, 'as' | 'runs' | 'grants'>,
  principal: WorkflowPrincipal,
  schedule: string,
): Promise<void> {
  await context.as(principal, (tx) => endSchedule(context, tx, schedule)).catch(() => undefined)
}
