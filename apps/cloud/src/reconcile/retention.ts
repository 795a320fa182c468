import { Fault } from '@skerry/fault'
import { sql, type Kysely } from 'kysely'

import type { Retention } from '../config.ts'
import type { CloudTables } from '../database/tables.ts'

/** Rows per transaction: few enough that others do not wait for its locks. */
const AT_ONCE = 500
/** A reader holds the lock of a partition for milliseconds. */
const LOCK_ATTEMPTS = 20

/** Deletes rows whose retention has ended, in small batches. Returns the number of rows and event partitions. */
export async function keepRetention(db: Kysely<CloudTables>, kept: Retention): Promise<number> {
  let gone = await dropEvents(db, kept.eventDays)
  const { taskDays, deletedDays } = kept
  for (const work of [
    deleteBulkChildren(taskDays),
    deleteTasks(taskDays),
    deleteVms(deletedDays),
    deleteVapps(deletedDays),
    deleteUnits('network', 'nic', deletedDays),
    deleteUnits('edge_gateway', 'network', deletedDays),
  ]) {
    gone += await inParts(db, work)
  }
  return gone
}

type Work = (db: Kysely<CloudTables>) => Promise<{ readonly rows: number; readonly more: boolean }>

async function inParts(db: Kysely<CloudTables>, work: Work): Promise<number> {
  let gone = 0
  for (let more = true; more;) {
    const part = await db.transaction().execute(work)
    gone += part.rows
    more = part.more
  }
  return gone
}

/** Drops one month of events at a time. A lock that is not free is tried again; the rest is left to the next pass. */
async function dropEvents(db: Kysely<CloudTables>, days: number): Promise<number> {
  let dropped = 0
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt += 1) {
    try {
      const { rows } = await sql<{ dropped: number }>`
        select keep_events(make_interval(days => ${days})) as dropped`.execute(db)
      if (rows[0]?.dropped !== 1) return dropped
      dropped += 1
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== 'unavailable') throw error
    }
  }
  return dropped
}

const ago = (days: number) => sql`clock_timestamp() - make_interval(days => ${days})`

/**
 * Ended tasks whose `expiryTime` has passed, each with its children. Ids begin with their creation time, so that the oldest come
 * first in the index of ids.
 */
const deleteTasks =
  (days: number): Work =>
  async (db) => {
    const { rows } = await sql<{ roots: string; rows: string }>`
      with cut as (select ${ago(days)} as at),
      root as materialized (
        select task.id from task, cut
        where task.parent is null and task.id < overlay(repeat('f', 32)
            placing lpad(to_hex(floor(extract(epoch from cut.at) * 1000)::bigint), 12, '0') from 1 for 12)::uuid
          and task.ended_at is not null and coalesce(task.started_at, task.created_at) < cut.at
          and not exists (select from pending_undo where pending_undo.task = task.id)
          and not exists (select from task child where child.parent = task.id
            and (child.ended_at is null or coalesce(child.started_at, child.created_at) >= cut.at))
        order by task.id limit ${AT_ONCE}),
      gone as (
        delete from task where id in (select id from root
          union all select child.id from task child join root on child.parent = root.id)
        returning 1)
      select (select count(*) from root) as roots, (select count(*) from gone) as rows`.execute(db)
    const [gone] = rows
    return { rows: Number(gone?.rows ?? 0), more: Number(gone?.roots ?? 0) === AT_ONCE }
  }

/** A bulk operation may have thousands of children: they are deleted before it, in batches. */
const deleteBulkChildren =
  (days: number): Work =>
  async (db) => {
    const { rows } = await sql`
      delete from task where id in (
        select child.id from task parent join task child on child.parent = parent.id, (select ${ago(days)} as at) cut
        where parent.children is not null and parent.ended_at is not null
          and coalesce(parent.started_at, parent.created_at) < cut.at
          and not exists (select from task young where young.parent = parent.id
            and (young.ended_at is null or coalesce(young.started_at, young.created_at) >= cut.at))
        limit ${AT_ONCE})
      returning id`.execute(db)
    return { rows: rows.length, more: rows.length === AT_ONCE }
  }

/** Deleted VMs that no task and no clone refers to, with their metadata, tickets and guest seeds. */
const deleteVms =
  (days: number): Work =>
  async (db) => {
    const { rows } = await sql<{ id: string }>`
      select id from vm where deleted_at < ${ago(days)}
        and not exists (select from task where task.org = vm.org and task.vm = vm.id)
        and not exists (select from vm copy where copy.org = vm.org and copy.source = vm.id)
        and not exists (select from console where console.vm = vm.id)
      order by deleted_at limit ${AT_ONCE} for update skip locked`.execute(db)
    const ids = rows.map(({ id }) => id)
    for (const table of ['metadata', 'screen_ticket', 'guest_seed']) {
      await sql`delete from ${sql.table(table)} noted using vm
        where vm.id = any(${ids}::uuid[]) and noted.org = vm.org and noted.vm = vm.id`.execute(db)
    }
    await sql`delete from vm where id = any(${ids}::uuid[])`.execute(db)
    return { rows: ids.length, more: ids.length === AT_ONCE }
  }

const deleteVapps =
  (days: number): Work =>
  async (db) => {
    const { rows } = await sql<{ id: string }>`
      select id from vapp where deleted_at < ${ago(days)}
        and not exists (select from vm where vm.org = vapp.org and vm.vapp = vapp.id)
        and not exists (select from task where task.org = vapp.org and task.vapp = vapp.id)
      order by deleted_at limit ${AT_ONCE} for update skip locked`.execute(db)
    const ids = rows.map(({ id }) => id)
    await sql`delete from metadata using vapp where vapp.id = any(${ids}::uuid[])
      and metadata.org = vapp.org and metadata.vapp = vapp.id`.execute(db)
    await sql`delete from vapp where id = any(${ids}::uuid[])`.execute(db)
    return { rows: ids.length, more: ids.length === AT_ONCE }
  }

/** Deleted networks or edge gateways that nothing refers to, once the network server has removed them. `user`: the rows that are on it. */
const deleteUnits =
  (unit: 'network' | 'edge_gateway', user: 'nic' | 'network', days: number): Work =>
  async (db) => {
    const column = sql.ref(unit)
    const { rows } = await sql`
      delete from ${sql.table(unit)} where id in (
        select id from ${sql.table(unit)} gone where deleted_at < ${ago(days)}
          and not exists (select from ${sql.table(user)} used where used.org = gone.org and used.${column} = gone.id)
          and not exists (select from task where task.${column} = gone.id)
          and not exists (select from network_change where kind = ${unit.replace('_', ' ')} and unit = gone.id)
        order by deleted_at limit ${AT_ONCE} for update skip locked)
      returning id`.execute(db)
    return { rows: rows.length, more: rows.length === AT_ONCE }
  }
