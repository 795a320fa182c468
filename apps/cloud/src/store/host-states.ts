import { Fault } from '@skerry/fault'
import type { HostRecord } from '@skerry/host-api'
import type { HostId, OrgId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { failTask } from './end-task.ts'
import { tell } from './events.ts'
import type { HostRow } from './hosts.ts'
import { loseSight } from './vms.ts'

/** All hosts with how many VMs are placed on each, and whether a cell follows it now. */
export type ListedHost = HostRow & { readonly vms: number; readonly followed: boolean }

export async function listHosts(db: Kysely<Database>): Promise<ListedHost[]> {
  return db
    .selectFrom('host')
    .selectAll()
    .select([
      sql<number>`(select count(*)::integer from vm where vm.host = host.id and deleted_at is null)`.as(
        'vms',
      ),
      sql<boolean>`coalesce(follow_until > clock_timestamp() and listed = session, false)`.as(
        'followed',
      ),
    ])
    .orderBy('name')
    .orderBy('id')
    .execute()
}

/** New VMs are placed on it, or not. Those that are there stay. `by`: the user who said so; commands know none. */
export async function enableHost(
  db: Kysely<Database>,
  id: HostId,
  enabled: boolean,
  by?: string,
): Promise<void> {
  const work = async (tx: Tx): Promise<void> => {
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') throw new Fault('conflict', `host ${id} is ${host.state}`)
    if (host.enabled === enabled) return
    // Whoever decides by hand has looked: the first list does not decide again.
    await tx.updateTable('host').set({ enabled }).where('id', '=', id).execute()
    const kind = enabled ? 'host.enabled' : 'host.disabled'
    await tell(tx, { kind, host: id, ...(by !== undefined && { what: { by } }) })
  }
  await (db.isTransaction ? work(db as Tx) : db.transaction().execute(work))
}

/** Nobody listens to it from now on, whatever it shows; its VMs are no longer seen. */
export async function revokeHost(db: Kysely<Database>, id: HostId): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') return
    await leave(tx, id, 'revoked')
    await tell(tx, { kind: 'host.revoked', host: id })
  })
}

/**
 * The machine and its disks are gone for good: a person says so. Its VMs are LOST and never seen again, what was asked of them
 * ends in error, but for deletes, which need no host from now on; what it owed is owed no more. Answers with how many VMs are lost.
 */
export async function declareLost(db: Kysely<Database>, id: HostId): Promise<number> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state === 'lost') return
    await leave(tx, id, 'lost')
    await tell(tx, { kind: 'host.lost', host: id })
  })
  // Not under the lock of the host, which comes after those of VMs.
  const vms = await db
    .updateTable('vm')
    .set({ fate: 'LOST' })
    .where('host', '=', id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`fate is distinct from 'LOST'`)
    .returning(['id', 'org', 'vapp'])
    .execute()
  for (const vm of vms) await tell(db, { kind: 'vm.lost', vm, host: id })
  await db.deleteFrom('debt').where('host', '=', id).execute()
  await db.deleteFrom('stray').where('host', '=', id).execute()
  // One transaction each, in the order of locks: a task that ends meanwhile is simply not open any more.
  for (const task of await openTasks(db, id)) {
    await failTask(db, task, 'the host of this VM is lost, and its disks with it')
  }
  const lost = await db
    .selectFrom('vm')
    .select('id')
    .where('host', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
  return lost.length
}

async function openTasks(db: Kysely<Database>, host: HostId): Promise<readonly TaskId[]> {
  const found = await db
    .selectFrom('task')
    .innerJoin('vm', 'vm.id', 'task.vm')
    .select('task.id')
    .where('vm.host', '=', host)
    .where('task.state', 'in', ['queued', 'running'])
    // A delete still frees what the VM had, without asking anybody.
    .where('task.operation', '<>', 'delete')
    .orderBy('task.place', 'desc')
    .execute()
  return found.map(({ id }) => id)
}

/**
 * A host in quarantine is taken as it is. What it does not have any more is MISSING; what it has will be seen. Answers with how
 * many are missing.
 */
export async function adoptAsIs(
  db: Kysely<Database>,
  id: HostId,
  records: readonly HostRecord[],
): Promise<number> {
  const there = records
    .filter((each) => each.there)
    .map(({ vm, incarnation }) => ({ vm, incarnation }))
  return db.transaction().execute(async (tx) => {
    const missing = await sql<{ id: VmId; org: OrgId; vapp: VappId }>`
      update vm set fate = 'MISSING' where host = ${id} and deleted_at is null and fate is null
        and status not in ('UNRESOLVED', 'FAILED_CREATION')
        and not exists (select from jsonb_to_recordset(${JSON.stringify(there)}::jsonb) as said(vm text, incarnation bigint)
          where said.vm = vm.id::text and said.incarnation = vm.incarnation)
      returning id, org, vapp`.execute(tx)
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') throw new Fault('conflict', `host ${id} is ${host.state}`)
    // What it has on disk now is what it is measured by from now on.
    await tx
      .updateTable('host')
      .set({ quarantine: null, highest: '0' })
      .where('id', '=', id)
      .execute()
    for (const vm of missing.rows) await tell(tx, { kind: 'vm.missing', vm, host: id })
    await tell(tx, { kind: 'host.adopted', host: id, what: { missing: missing.rows.length } })
    return missing.rows.length
  })
}

async function leave(tx: Tx, id: HostId, state: 'revoked' | 'lost'): Promise<void> {
  await tx
    .updateTable('host')
    .set({ state, enabled: false, listed: '0' })
    .where('id', '=', id)
    .execute()
  await loseSight(tx, id)
}

async function lockHost(tx: Tx, id: HostId) {
  const host = await tx
    .selectFrom('host')
    .select(['state', 'enabled'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (host) return host
  throw new Fault('not-found', `there is no host ${id}`, { hint: 'skerry cloud host list' })
}
