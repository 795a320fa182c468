import { Fault } from '@skerry/fault'
import type { HostRecord } from '@skerry/host-api'
import type { HostId, OrgId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'
import { loseSight } from '../inventory/vms.ts'
import { failTask } from '../tasks/end-task.ts'
import type { HostRow } from './hosts.ts'

/** A host with the number of VMs placed on it, and whether a cell follows it now. */
export type ListedHost = HostRow & { readonly vms: number; readonly followed: boolean }

export async function listHosts(db: Kysely<CloudTables>): Promise<ListedHost[]> {
  return db
    .selectFrom('host')
    .selectAll()
    .select([
      sql<number>`(select count(*)::integer from vm where vm.host = host.id and deleted_at is null)`.as(
        'vms',
      ),
      sql<boolean>`coalesce(follow_until > clock_timestamp() and list_session = session, false)`.as(
        'followed',
      ),
    ])
    .orderBy('name')
    .orderBy('id')
    .execute()
}

/** Sets whether new VMs are placed on the host. Existing VMs stay. `by`: the user; operator commands pass none. */
export async function enableHost(
  db: Kysely<CloudTables>,
  id: HostId,
  enabled: boolean,
  by?: string,
): Promise<void> {
  const work = async (tx: Tx): Promise<void> => {
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') throw new Fault('conflict', `host ${id} is ${host.state}`)
    if (host.enabled === enabled) return
    // A manual decision stays: the host's first list does not change it.
    await tx.updateTable('host').set({ enabled }).where('id', '=', id).execute()
    const kind = enabled ? 'host.enabled' : 'host.disabled'
    await emitEvent(tx, { kind, host: id, ...(by !== undefined && { details: { by } }) })
  }
  await (db.isTransaction ? work(db as Tx) : db.transaction().execute(work))
}

/** Rejects the host from now on, with any certificate; its VMs are no longer observed. */
export async function revokeHost(db: Kysely<CloudTables>, id: HostId): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') return
    await leaveCloud(tx, id, 'revoked')
    await emitEvent(tx, { kind: 'host.revoked', host: id })
  })
}

/**
 * An operator declares that the machine and its disks are gone for good. Its VMs are LOST and never observed again; their tasks
 * fail, except deletes, which need no host from now on; its pending undos are dropped. Returns the number of lost VMs.
 */
export async function declareLost(db: Kysely<CloudTables>, id: HostId): Promise<number> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state === 'lost') return
    await leaveCloud(tx, id, 'lost')
    await emitEvent(tx, { kind: 'host.lost', host: id })
  })
  // Not under the lock of the host, which comes after those of VMs in the lock order.
  const vms = await db
    .updateTable('vm')
    .set({ lost_reason: 'LOST' })
    .where('host', '=', id)
    .where('deleted_at', 'is', null)
    .where(sql<boolean>`lost_reason is distinct from 'LOST'`)
    .returning(['id', 'org', 'vapp'])
    .execute()
  for (const vm of vms) await emitEvent(db, { kind: 'vm.lost', vm, host: id })
  await db.deleteFrom('pending_undo').where('host', '=', id).execute()
  await db.deleteFrom('orphan').where('host', '=', id).execute()
  // One transaction each, in the lock order: a task that ends meanwhile is skipped.
  for (const task of await openTasks(db, id)) {
    await failTask(db, task, 'the host of this VM and its disks are lost')
  }
  const lost = await db
    .selectFrom('vm')
    .select('id')
    .where('host', '=', id)
    .where('deleted_at', 'is', null)
    .execute()
  return lost.length
}

async function openTasks(db: Kysely<CloudTables>, host: HostId): Promise<readonly TaskId[]> {
  const found = await db
    .selectFrom('task')
    .innerJoin('vm', 'vm.id', 'task.vm')
    .select('task.id')
    .where('vm.host', '=', host)
    .where('task.state', 'in', ['queued', 'running'])
    // A delete still frees the VM's resources, without the host.
    .where('task.kind', '<>', 'delete')
    .orderBy('task.position', 'desc')
    .execute()
  return found.map(({ id }) => id)
}

/**
 * Accepts a quarantined host in its current state. VMs that it no longer has become MISSING; the others will be observed. Returns
 * the number of missing VMs.
 */
export async function adoptAsIs(
  db: Kysely<CloudTables>,
  id: HostId,
  records: readonly HostRecord[],
): Promise<number> {
  const there = records
    .filter((each) => each.exists)
    .map(({ vm, incarnation }) => ({ vm, incarnation }))
  return db.transaction().execute(async (tx) => {
    const missing = await sql<{ id: VmId; org: OrgId; vapp: VappId }>`
      update vm set lost_reason = 'MISSING' where host = ${id} and deleted_at is null and lost_reason is null
        and status not in ('UNRESOLVED', 'FAILED_CREATION')
        and not exists (select from jsonb_to_recordset(${JSON.stringify(there)}::jsonb) as reported(vm text, incarnation bigint)
          where reported.vm = vm.id::text and reported.incarnation = vm.incarnation)
      returning id, org, vapp`.execute(tx)
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') throw new Fault('conflict', `host ${id} is ${host.state}`)
    // From now on it is compared with the tokens that it has on disk now.
    await tx
      .updateTable('host')
      .set({ quarantine: null, highest: '0' })
      .where('id', '=', id)
      .execute()
    for (const vm of missing.rows) await emitEvent(tx, { kind: 'vm.missing', vm, host: id })
    await emitEvent(tx, {
      kind: 'host.adopted',
      host: id,
      details: { missing: missing.rows.length },
    })
    return missing.rows.length
  })
}

async function leaveCloud(tx: Tx, id: HostId, state: 'revoked' | 'lost'): Promise<void> {
  await tx
    .updateTable('host')
    .set({ state, enabled: false, list_session: '0' })
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
  throw new Fault('not-found', `host not found: ${id}`, { hint: 'skerry admin host list' })
}
