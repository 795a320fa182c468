import type { OrgId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables, TaskRow } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import { taskWait, type TaskWait } from './waits.ts'

/** `gone`: its VM, vApp, network or edge gateway was deleted; a task is kept longer than that. Missing for a task that was just submitted. */
export type TaskFound = TaskRow & { readonly gone?: boolean; readonly wait?: TaskWait | null }

const gone = sql<boolean>`not case
  when task.vm is not null then exists (select from vm where vm.org = task.org and vm.id = task.vm and vm.deleted_at is null)
  when task.vapp is not null
  then exists (select from vapp where vapp.org = task.org and vapp.id = task.vapp and vapp.deleted_at is null)
  when task.network is not null
  then exists (select from network where network.org = task.org and network.id = task.network and network.deleted_at is null)
  when task.edge_gateway is not null
  then exists (select from edge_gateway where edge_gateway.org = task.org and edge_gateway.id = task.edge_gateway
    and edge_gateway.deleted_at is null)
  else true end`

/** A task of a VM or vApp by itself, or the part that one of its VMs has in a bulk operation. */
const ofItsOwn = sql<boolean>`(task.parent is null or task.in_bulk)`

export async function findTask(
  db: Kysely<CloudTables>,
  id: string,
): Promise<TaskFound | undefined> {
  return db
    .selectFrom('task')
    .selectAll()
    .select([gone.as('gone'), taskWait.as('wait')])
    .where('id', '=', id as TaskId)
    .executeTakeFirst()
}

/** The open tasks of a vApp, or of one of its VMs. */
export async function openTasks(
  db: Kysely<CloudTables>,
  vapp: VappId,
  vm?: VmId,
): Promise<readonly TaskFound[]> {
  const open = db
    .selectFrom('task')
    .selectAll()
    .select([gone.as('gone'), taskWait.as('wait')])
    .where('vapp', '=', vapp)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
  return (vm === undefined ? open.where(ofItsOwn) : open.where('vm', '=', vm)).execute()
}

export const openNetworkTasks = (db: Kysely<CloudTables>, network: string) =>
  openUnitTasks(db, 'network', network)

export const openEdgeGatewayTasks = (db: Kysely<CloudTables>, gateway: string) =>
  openUnitTasks(db, 'edge_gateway', gateway)

const openUnitTasks = (
  db: Kysely<CloudTables>,
  column: 'network' | 'edge_gateway',
  id: string,
): Promise<readonly TaskFound[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .select(gone.as('gone'))
    .where(column, '=', id)
    .where('state', 'in', ['queued', 'running'])
    .orderBy('id')
    .execute()

/** As many as the largest page of a query. */
const NEWEST = 128

/** The newest tasks of an organisation, without child tasks. */
export const newestTasks = (db: Kysely<CloudTables>, org: OrgId): Promise<TaskFound[]> =>
  db
    .selectFrom('task')
    .selectAll()
    .select([gone.as('gone'), taskWait.as('wait')])
    .where('org', '=', org)
    .where('parent', 'is', null)
    .orderBy('id', 'desc')
    .limit(NEWEST)
    .execute()

/** Sets the message of a task that is not failing. */
export async function noteOnTask(
  db: Kysely<CloudTables>,
  id: TaskId,
  message: string,
): Promise<void> {
  await db.updateTable('task').set({ message }).where('id', '=', id).execute()
}
