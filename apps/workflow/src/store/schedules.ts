import { sql, type Kysely, type Selectable } from 'kysely'

import { unknownThing } from '../identity/rights.ts'
import type { Database, Overlap, Tx, Values } from './database.ts'
import { jsonText } from './json-text.ts'

export type ScheduleRow = Selectable<Database['schedule']>

export interface NewSchedule {
  readonly org: ScheduleRow['org']
  readonly id: string
  readonly workflow: string
  readonly name: string
  readonly grant: string
  readonly account: ScheduleRow['account']
  readonly accountName: string
  readonly cron: string | undefined
  readonly everySeconds: number | undefined
  readonly timeZone: string
  readonly overlap: Overlap
  readonly paused: boolean
  readonly input: Values
}

export async function addSchedule(tx: Tx, schedule: NewSchedule): Promise<ScheduleRow> {
  const { org, id, workflow, name, grant, account, paused } = schedule
  return tx
    .insertInto('schedule')
    .values({
      ...{ org, id, workflow, name, grant_id: grant, account, paused },
      ...{ account_name: schedule.accountName, overlap: schedule.overlap },
      ...{ cron: schedule.cron ?? null, every_seconds: schedule.everySeconds ?? null },
      ...{ time_zone: schedule.timeZone, input: jsonText(schedule.input) },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function findSchedule(
  db: Kysely<Database>,
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
  db: Kysely<Database>,
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
  tx: Tx,
  { org, id }: Pick<ScheduleRow, 'org' | 'id'>,
  paused: boolean,
): Promise<ScheduleRow> {
  const row = await tx
    .updateTable('schedule')
    .set({ paused })
    .where('org', '=', org)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .returningAll()
    .executeTakeFirst()
  if (row) return row
  throw unknownThing()
}

export async function deleteSchedule(
  tx: Tx,
  { org, id }: Pick<ScheduleRow, 'org' | 'id'>,
): Promise<void> {
  await tx
    .updateTable('schedule')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .execute()
}
