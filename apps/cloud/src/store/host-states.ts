import { Fault } from '@skerry/fault'
import type { HostId, TaskId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

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

/** New VMs are placed on it, or not. Those that are there stay. */
export async function enableHost(
  db: Kysely<Database>,
  id: HostId,
  enabled: boolean,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state !== 'joined') throw new Fault('conflict', `host ${id} is ${host.state}`)
    if (host.enabled === enabled) return
    // Whoever decides by hand has looked: the first list does not decide again.
    await tx.updateTable('host').set({ enabled }).where('id', '=', id).execute()
    await tell(tx, { kind: enabled ? 'host.enabled' : 'host.disabled', host: id })
  })
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
 * The machine and its disks are gone for good: a person says so. Its VMs are never seen again, and
 * what was asked of them ends in error. Answers with how many VMs are lost.
 */
export async function declareLost(db: Kysely<Database>, id: HostId): Promise<number> {
  await db.transaction().execute(async (tx) => {
    const host = await lockHost(tx, id)
    if (host.state === 'lost') return
    await leave(tx, id, 'lost')
    await tell(tx, { kind: 'host.lost', host: id })
  })
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
    // A delete still frees what the VM had.
    .where('task.operation', '<>', 'delete')
    .orderBy('task.place', 'desc')
    .execute()
  return found.map(({ id }) => id)
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
