import type { HostId, OrgId, VmId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import { rowBatches } from '../database/row-batches.ts'
import type { Tx } from '../database/tables.ts'
import type { VappId } from '../domain/ids.ts'

interface ChangedRow {
  readonly org: OrgId | null
  readonly vapp: VappId | null
  readonly vm: VmId | null
  readonly host: HostId | null
  readonly details: Readonly<Record<string, unknown>>
}

/** Only VMs on hosts whose records were read: of other VMs it is unknown whether their host still has them. */
const wasRead = (recovery: number) => sql<boolean>`vm.host in (select id from host
  where state = 'joined' and recovery_read = ${recovery})`
const alive = sql<boolean>`vm.deleted_at is null and vm.lost_reason is distinct from 'LOST'`
const mine = sql`reported.host = vm.host and reported.vm = vm.id`
const eventColumns = sql`vm.org, vm.vapp, vm.id as vm`

/**
 * Compares every row that a restore brought back with the records of the hosts, and every VM on the hosts with the rows.
 * Each finding is an event. Nothing is sent to any host. Returns the number of findings of each kind.
 */
export async function accountForAll(
  tx: Tx,
  recovery: number,
): Promise<Readonly<Record<string, number>>> {
  const found = {
    'vm.relived': await adoptNewerIncarnation(tx, recovery),
    'vm.deleted': await markDeleted(tx, recovery),
    'vm.unmade': await failUnfinishedCreates(tx),
    'vm.missing': await markMissing(tx, recovery),
    'undo.dropped': await dropPendingUndos(tx),
    'vm.orphaned': await findOrphans(tx, recovery),
  }
  await followPower(tx)
  const counts: Record<string, number> = {}
  for (const [kind, rows] of Object.entries(found)) {
    counts[kind] = rows.length
    await emitAll(tx, kind, rows)
  }
  return counts
}

/** The VM's own host has a newer incarnation: the backup is older than that. */
const adoptNewerIncarnation = (tx: Tx, recovery: number) =>
  changedRows(
    tx,
    sql`update vm set incarnation = reported.incarnation, ever_started = true from host_record reported
      where ${mine} and reported.there and reported.incarnation > vm.incarnation and ${alive} and ${wasRead(recovery)}
      returning ${eventColumns}, vm.host, jsonb_build_object('incarnation', reported.incarnation::text) as details`,
  )

/** VMs deleted after the backup, as the tombstone on their host shows; except VMs that another host has. */
async function markDeleted(tx: Tx, recovery: number): Promise<readonly ChangedRow[]> {
  const rows = await changedRows(
    tx,
    sql`update vm set deleted_at = clock_timestamp(), closed = true, host = null, boot = null, host_silent = false,
        lost_reason = null, status = 'RESOLVED'
      from host_record reported
      where ${mine} and reported.gone and not reported.there and reported.incarnation >= vm.incarnation and ${alive}
        and ${wasRead(recovery)}
        and not exists (select from host_record other where other.vm = vm.id and other.there)
      returning ${eventColumns}, reported.host, '{}'::jsonb as details`,
  )
  const vapps = [...new Set(rows.map(({ vapp }) => vapp))]
  await sql`update vapp set deleted_at = clock_timestamp(), closed = true
    where id = any(${vapps}::uuid[]) and deleted_at is null
      and not exists (select from vm where vm.vapp = vapp.id and vm.deleted_at is null)`.execute(tx)
  return rows
}

/** VMs whose creation was in progress at the time of the backup; their tasks have ended. A later observation sets their status. */
const failUnfinishedCreates = (tx: Tx) =>
  changedRows(
    tx,
    sql`update vm set status = 'FAILED_CREATION' where ${alive} and status = 'UNRESOLVED'
        and not exists (select from host_record reported where ${mine} and reported.there)
      returning ${eventColumns}, vm.host, '{}'::jsonb as details`,
  )

async function markMissing(tx: Tx, recovery: number): Promise<readonly ChangedRow[]> {
  const there = sql`select from host_record reported where ${mine} and reported.there
    and reported.incarnation = vm.incarnation`
  await sql`update vm set lost_reason = null where lost_reason = 'MISSING' and deleted_at is null
    and exists (${there})`.execute(tx)
  return changedRows(
    tx,
    sql`update vm set lost_reason = 'MISSING' where ${alive} and lost_reason is null and ${wasRead(recovery)}
        and status not in ('UNRESOLVED', 'FAILED_CREATION') and not exists (${there})
      returning ${eventColumns}, vm.host, '{}'::jsonb as details`,
  )
}

/** A pending power change may have been made, and reverted since, so it is dropped. A pending deletion stays for ever. */
const dropPendingUndos = (tx: Tx) =>
  changedRows(
    tx,
    sql`delete from pending_undo where goal ->> 'goal' is distinct from 'gone'
      returning null as org, null as vapp, null as vm, pending_undo.host, jsonb_build_object('vm', pending_undo.vm, 'goal', goal) as details`,
  )

/** Orphans: VMs on hosts that have no row. They are proposed for adoption and belong to no organisation until then. */
async function findOrphans(tx: Tx, recovery: number): Promise<readonly ChangedRow[]> {
  await sql`delete from orphan where host in (select id from host where recovery_read = ${recovery})`.execute(
    tx,
  )
  return changedRows(
    tx,
    sql`with orphans as (insert into orphan (host, vm) select reported.host, reported.vm from host_record reported
        where reported.there
          and not exists (select from vm where ${mine} and vm.incarnation = reported.incarnation and vm.deleted_at is null)
          and not exists (select from pending_undo where pending_undo.host = reported.host and pending_undo.vm = reported.vm
            and pending_undo.incarnation = reported.incarnation)
        returning host, vm)
      select null as org, null as vapp, null as vm, reported.host,
        jsonb_build_object('vm', reported.vm, 'spec', reported.spec, 'quarantined', reported.lost) as details
      from host_record reported join orphans on orphans.host = reported.host and orphans.vm = reported.vm`,
  )
}

/**
 * The desired power of the backup no longer counts: nothing is started or stopped because of it. A VM that is observed now gets
 * its observed power as desired power; any other VM gets it with its first observation.
 */
async function followPower(tx: Tx): Promise<void> {
  const seen = sql<boolean>`exists (select from host where host.id = vm.host and host.list_session = host.session
    and host.follow_until > clock_timestamp()) and not host_silent`
  await sql`update vm set desired_power_unknown = not (${seen}), queue_target = null,
      desired_power = case when ${seen} and status in ('POWERED_ON', 'POWERED_OFF', 'SUSPENDED') then status else desired_power end
    where ${alive} and host is not null`.execute(tx)
}

async function changedRows(tx: Tx, statement: RawBuilder<unknown>): Promise<readonly ChangedRow[]> {
  const { rows } = await (statement as RawBuilder<ChangedRow>).execute(tx)
  return rows
}

async function emitAll(tx: Tx, kind: string, rows: readonly ChangedRow[]): Promise<void> {
  for (const some of rowBatches(rows)) {
    const events = some.map(({ details, ...rest }) => ({
      kind,
      ...rest,
      details: JSON.stringify(details),
    }))
    await tx.insertInto('event').values(events).execute()
  }
}
