import { Fault } from '@skerry/fault'
import type { StopCause } from '@skerry/host-api'
import { cardCounts, type HostId, type Vm, type VmId } from '@skerry/vm'
import { sql, type Kysely, type RawBuilder, type Selectable, type UpdateObject } from 'kysely'

import type { Tx, CloudTables } from '../database/tables.ts'
import { statusOf } from '../domain/vm-status.ts'

export type VmRow = Selectable<CloudTables['vm']>

/** `gone`: also if it was deleted. */
interface FindOptions {
  readonly gone?: boolean
}

export const findVm = (
  db: Kysely<CloudTables>,
  id: string,
  options?: FindOptions,
): Promise<VmRow | undefined> => vmById(db, id, options).executeTakeFirst()

/** A VM, and whether it has open tasks: most have none, and then no one has to look for them. */
export const findVmAndWork = (
  db: Kysely<CloudTables>,
  id: string,
  options?: FindOptions,
): Promise<(VmRow & { readonly has_tasks: boolean }) | undefined> =>
  vmById(db, id, options)
    .select(
      sql<boolean>`exists (select from task where task.vm = vm.id and task.state in ('queued', 'running'))`.as(
        'has_tasks',
      ),
    )
    .executeTakeFirst()

function vmById(db: Kysely<CloudTables>, id: string, { gone = false }: FindOptions = {}) {
  const query = db
    .selectFrom('vm')
    .selectAll()
    .where('id', '=', id as VmId)
  return gone ? query : query.where('deleted_at', 'is', null)
}

/**
 * Every change of a VM's queue locks its row: submit, claim, roll back, end. Not with `for update`,
 * which would also block inserts that only refer to the row.
 */
export async function lockVm(tx: Tx, id: VmId): Promise<VmRow | undefined> {
  return tx.selectFrom('vm').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/**
 * Locks the VMs that match, by id, which is the lock order of all requests. A VM that changed while its lock was awaited is matched
 * again by its new values. `matching`: SQL over the row `r`.
 */
export async function lockMatching(
  tx: Tx,
  matching: RawBuilder<unknown>,
  limit: number,
): Promise<readonly VmRow[]> {
  const { rows } = await sql<VmRow>`select r.* from vm r where ${matching}
    order by r.id limit ${limit} for no key update of r`.execute(tx)
  return rows
}

/** A statement that locks these VMs by id. One that changes several VMs of a host locks them first, or it could deadlock with requests. */
export const lockedInOrder = (matching: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`select vm.id from vm where ${matching} order by vm.id for no key update`

/** An observation of one VM by its host, with session and position. */
export interface VmObservation {
  readonly id: VmId
  readonly session: string
  readonly seq: number
  readonly vm: Vm
  readonly stopped?: StopCause
}

/**
 * Writes observations in one statement; an older observation than the stored one changes nothing. A guest
 * that shut itself down gets POWERED_OFF as desired power, unless a task is open: then the task decides. After a restore, the
 * observed power becomes the desired one. A network card is stored only if it can be on the network of the VM's own
 * organisation: a compromised host could report any address.
 */
export async function recordSeen(
  db: Kysely<CloudTables>,
  host: HostId,
  sights: readonly VmObservation[],
): Promise<void> {
  if (sights.length === 0) return
  const rows = sights.map(({ id, session, seq, vm, stopped }) => ({
    id,
    session,
    seq,
    incarnation: vm.incarnation,
    status: statusOf[vm.power],
    boot: vm.boot,
    by_guest: stopped === 'by guest',
    nested: vm.nested,
    ...(vm.card &&
      cardCounts(vm.card) && {
        network: vm.card.network,
        mac: vm.card.mac,
        address: vm.card.address,
      }),
  }))
  await sql`
    with locked as (${lockedInOrder(sql`vm.id = any(${sights.map(({ id }) => id)}::uuid[])`)})
    update vm set status = seen.status, boot = seen.boot, last_boot = coalesce(seen.boot, vm.last_boot), host_silent = false, missing = 0, lost_reason = null, desired_power_unknown = false,
      seen_session = seen.session, seen_seq = seen.seq, seen_at = clock_timestamp(),
      nested = coalesce(seen.nested, vm.nested),
      (network, mac, address) = (select seen.network, seen.mac, seen.address
        where seen.network = 'skerry-' || left(encode(sha256(convert_to(vapp.org::text, 'UTF8')), 'hex'), 10)),
      desired_power = case when vm.desired_power_unknown then seen.status
        when seen.by_guest and vm.queue_target is null and vm.holder is null and not vm.closed
        then 'POWERED_OFF' else vm.desired_power end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as seen(id uuid, session bigint, seq integer, incarnation bigint, status text, boot text,
        by_guest boolean, nested boolean, network text, mac text, address text), vapp
    where vm.id in (select id from locked) and vm.id = seen.id and vapp.id = vm.vapp and vm.host = ${host} and vm.incarnation = seen.incarnation and vm.deleted_at is null
      and vm.lost_reason is distinct from 'LOST' and (vm.seen_session, vm.seen_seq) < (seen.session, seen.seq)`.execute(
    db,
  )
}

/**
 * Marks the VMs of this host as not observed. They keep their last observed status. Each organisation gets one event with the number
 * of its VMs that are UNKNOWN from now on, not one for each VM.
 */
export async function loseSight(db: Kysely<CloudTables>, host: HostId): Promise<void> {
  await sql`
    with locked as (${lockedInOrder(sql`vm.host = ${host} and vm.deleted_at is null and not vm.host_silent`)}),
    lost as (update vm set host_silent = true
      where vm.id in (select id from locked) and vm.host = ${host} and vm.deleted_at is null and not vm.host_silent
      returning vm.org, vm.displayed_status)
    insert into event (kind, org, details)
      select 'vms.unknown', org, jsonb_build_object('count', count(*)) from lost
      where displayed_status = 'UNKNOWN' group by org`.execute(db)
}

/** Locks and reads the VM for the holder of its newest claim: until the end of the transaction no one else can change it. */
export async function lockClaimed(tx: Tx, id: VmId, fencingToken: string): Promise<VmRow> {
  const vm = await tx
    .selectFrom('vm')
    .selectAll()
    .where('id', '=', id)
    .where('fence', '=', fencingToken)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!vm) throw staleClaim(fencingToken)
  return vm
}

/** Every write of a step is guarded by the fencing token of its claim. */
export async function writeClaimed(
  db: Kysely<CloudTables>,
  id: VmId,
  fencingToken: string,
  set: UpdateObject<CloudTables, 'vm'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('vm')
    .set(set)
    .where('id', '=', id)
    .where('fence', '=', fencingToken)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw staleClaim(fencingToken)
}

/** Placed on no host: nothing is reserved, and no host reports it. */
export const placedNowhere = {
  host: null,
  boot: null,
  host_silent: false,
  missing: 0,
  network: null,
  mac: null,
  address: null,
} as const

export const staleClaim = (fencingToken: string): Fault =>
  new Fault('stale', `stale fencing token ${fencingToken}: there is a newer claim`)
