import type { OrgId, TaskId, VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Database } from './database.ts'
import type { Task } from './queue.ts'

export async function findTask(db: Kysely<Database>, id: string): Promise<Task | undefined> {
  return db
    .selectFrom('task')
    .selectAll()
    .where('id', '=', id as TaskId)
    .executeTakeFirst()
}

/** What is asked of a vApp, or of one of its VMs, and has not ended. */
export async function openTasks(
  db: Kysely<Database>,
  vapp: VappId,
  vm?: VmId,
): Promise<readonly Task[]> {
  const open = db
    .selectFrom('task')
    .selectAll()
    .where('vapp', '=', vapp)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
  return (vm === undefined ? open.where('parent', 'is', null) : open.where('vm', '=', vm)).execute()
}

/** As many as the largest page of a query. */
const NEWEST = 128

/** What was last asked in an organisation, parts of other tasks left out. */
export const newestTasks = (db: Kysely<Database>, org: OrgId): Promise<Task[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .where('org', '=', org)
    .where('parent', 'is', null)
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .execute()

/** What else is worth knowing of a task that goes well. */
export async function noteOnTask(db: Kysely<Database>, id: TaskId, message: string): Promise<void> {
  await db.updateTable('task').set({ message }).where('id', '=', id).execute()
}
