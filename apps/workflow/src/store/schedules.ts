import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import { notFound, type WorkflowPrincipal } from '../identity/rights.ts'
import type { WorkflowTables, Overlap, WorkflowTx, RunValues } from './database.ts'
import { jsonText } from './json-text.ts'

export type ScheduleRow = Selectable<WorkflowTables['schedule']>

export interface NewSchedule {
  readonly org: ScheduleRow['org']
  readonly id: string
  readonly workflow: string
  readonly name: string
  readonly account: ScheduleRow['account']
  readonly accountName: string
  readonly cron: string | undefined
  readonly everySeconds: number | undefined
  readonly timeZone: string
  readonly overlap: Overlap
  readonly paused: boolean
  readonly input: RunValues
}

/**
 * Records a schedule as deleted: it exists when `openSchedule` says so. Whatever a crash leaves of it before is ended like that of a
 * deleted one. Its grant has its id.
 */
export async function addSchedule(tx: WorkflowTx, schedule: NewSchedule): Promise<void> {
  const { org, id, workflow, name, account, paused } = schedule
  await tx
    .insertInto('schedule')
    .values({
      org,
      id,
      workflow,
      name,
      grant_id: id,
      deleted_at: sql<Date>`clock_timestamp()`,
      account,
      paused,
      account_name: schedule.accountName,
      overlap: schedule.overlap,
      cron: schedule.cron ?? null,
      every_seconds: schedule.everySeconds ?? null,
      time_zone: schedule.timeZone,
      input: jsonText(schedule.input),
    })
    .execute()
}

/** Throws `gone` if its grant was ended because this came too late. */
export async function openSchedule(
  tx: WorkflowTx,
  { org, id }: Pick<ScheduleRow, 'org' | 'id'>,
): Promise<ScheduleRow> {
  return tx
    .updateTable('schedule')
    .set({ deleted_at: null })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('grant_ended', '=', false)
    .returningAll()
    .executeTakeFirstOrThrow(
      () => new Fault('gone', 'the schedule was not created in time', { hint: 'create another' }),
    )
}

export async function findSchedule(
  db: Kysely<WorkflowTables>,
  id: string,
): Promise<ScheduleRow | undefined> {
  return db
    .selectFrom('schedule')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
}

export async function listSchedules(
  db: Kysely<WorkflowTables>,
  of?: { readonly org: ScheduleRow['org']; readonly id: string },
): Promise<ScheduleRow[]> {
  const found = db
    .selectFrom('schedule')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('id')
    .limit(1000)
  return (of ? found.where('org', '=', of.org).where('workflow', '=', of.id) : found).execute()
}

export async function pauseSchedule(
  tx: WorkflowTx,
  { org, id }: Pick<ScheduleRow, 'org' | 'id'>,
  paused: boolean,
): Promise<ScheduleRow> {
  const row = await tx
    .updateTable('schedule')
    // Only resuming is a review of a changed workflow.
    .set(paused ? { paused } : { paused, paused_why: null })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (row) return row
  throw notFound()
}

/**
 * A schedule acts on behalf of its owner. If another user changes its workflow, it is paused until the owner has reviewed the change,
 * even if it was paused already: somebody else could resume it. Returns the ids of the paused schedules.
 */
export async function pauseForChange(
  tx: WorkflowTx,
  { org, account, user }: Pick<WorkflowPrincipal, 'org' | 'account' | 'user'>,
  { workflow, version }: { readonly workflow: string; readonly version: string },
): Promise<readonly string[]> {
  const why = `${user} changed the workflow to version ${version}; the owner of this schedule must review and resume it`
  const rows = await tx
    .updateTable('schedule')
    .set({ paused: true, paused_why: why })
    .where('org', '=', org)
    .where('workflow', '=', workflow)
    .where('account', '!=', account)
    .where('deleted_at', 'is', null)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

export async function deleteSchedule(
  tx: WorkflowTx,
  { org, id }: Pick<ScheduleRow, 'org' | 'id'>,
): Promise<void> {
  await tx
    .updateTable('schedule')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}

/** Locks a deleted schedule whose grant may still be valid, so that it cannot come into being meanwhile. */
export async function lockGrantedSchedule(
  tx: Kysely<WorkflowTables>,
  id: string,
): Promise<Pick<ScheduleRow, 'id' | 'grant_id'> | undefined> {
  return tx
    .selectFrom('schedule')
    .select(['id', 'grant_id'])
    .where('id', '=', id)
    .where('deleted_at', 'is not', null)
    .where('grant_ended', '=', false)
    .forUpdate()
    .executeTakeFirst()
}

/** One that never had a run is forgotten: a request that is refused leaves nothing. */
export async function markScheduleEnded(tx: Kysely<WorkflowTables>, id: string): Promise<void> {
  await tx
    .deleteFrom('schedule')
    .where('id', '=', id)
    .where((eb) =>
      eb.not(eb.exists(eb.selectFrom('execution').select('id').where('schedule', '=', id))),
    )
    .execute()
  await tx.updateTable('schedule').set({ grant_ended: true }).where('id', '=', id).execute()
}
