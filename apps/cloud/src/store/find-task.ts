import type { OrgId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Database } from './database.ts'
import type { Task } from './queue.ts'

/** `gone`: what it was asked of is no more; a task is kept longer than that. One that was submitted just now is of something there. */
export type TaskFound = Task & { readonly gone?: boolean }

const gone = sql<boolean>`not case when task.vm is null
  then exists (select from vapp where vapp.org = task.org and vapp.id = task.vapp and vapp.deleted_at is null)
  else exists (select from vm where vm.org = task.org and vm.id = task.vm and vm.deleted_at is null) end`

export async function findTask(db: Kysely<Database>, id: string): Promise<TaskFound | undefined> {
  return db
    .selectFrom('task')
    .selectAll()
    .select(gone.as('gone'))
    .where('id', '=', id as TaskId)
    .executeTakeFirst()
}

/** What is asked of a vApp, or of one of its VMs, and has not ended. */
export async function openTasks(
  db: Kysely<Database>,
  vapp: VappId,
  vm?: VmId,
): Promise<readonly TaskFound[]> {
  const open = db
    .selectFrom('task')
    .selectAll()
    .select(gone.as('gone'))
    .where('vapp', '=', vapp)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
  return (vm === undefined ? open.where('parent', 'is', null) : open.where('vm', '=', vm)).execute()
}

/** As many as the largest page of a query. */
const NEWEST = 128

/** What was last asked in an organisation, parts of other tasks left out. */
export const newestTasks = (db: Kysely<Database>, org: OrgId): Promise<TaskFound[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .select(gone.as('gone'))
    .where('org', '=', org)
    .where('parent', 'is', null)
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .execute()

/** What else is worth knowing of a task that goes well. */
export async function noteOnTask(db: Kysely<Database>, id: TaskId, message: string): Promise<void> {
  await db.updateTable('task').set({ message }).where('id', '=', id).execute()
}
