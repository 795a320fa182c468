import { Fault } from '@skerry/fault'
import type { Stopped } from '@skerry/host-api'
import type { HostId, Vm, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'
import type { UpdateObject } from 'kysely'

import { statusOf } from '../vm-status.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'

export type VmRow = Selectable<Database['vm']>

export async function findVm(
  db: Kysely<Database>,
  id: string,
  { gone = false } = {},
): Promise<VmRow | undefined> {
  const query = db
    .selectFrom('vm')
    .selectAll()
    .where('id', '=', id as VmId)
  return (gone ? query : query.where('deleted_at', 'is', null)).executeTakeFirst()
}

/**
 * Whoever touches a VM's queue holds its row: to submit, claim, turn back, end. Not `for update`,
 * which would also stop whoever only refers to the row.
 */
export async function lockVm(tx: Tx, id: VmId): Promise<VmRow | undefined> {
  return tx.selectFrom('vm').selectAll().where('id', '=', id).forNoKeyUpdate().executeTakeFirst()
}

/** What a host has seen of one VM, in which place of which session. */
export interface Sight {
  readonly id: VmId
  readonly session: string
  readonly seq: number
  readonly vm: Vm
  readonly stopped?: Stopped
}

/**
 * Written as seen, all in one statement. An older sight than the one we have changes nothing. A guest
 * that shut itself down is wanted off, unless a task is open: then the task says what is wanted. Where a restore has taken away
 * what was wanted, what is seen is wanted.
 */
export async function recordSeen(
  db: Kysely<Database>,
  host: HostId,
  sights: readonly Sight[],
): Promise<void> {
  if (sights.length === 0) return
  const rows = sights.map(({ id, session, seq, vm, stopped }) => ({
    ...{ id, session, seq, incarnation: vm.incarnation },
    ...{ status: statusOf[vm.power], boot: vm.boot, by_guest: stopped === 'by guest' },
    nested: vm.nested,
    ...(vm.card && { network: vm.card.network, mac: vm.card.mac, address: vm.card.address }),
  }))
  await sql`
    update vm set status = seen.status, boot = seen.boot, last_boot = coalesce(seen.boot, vm.last_boot), unseen = false, missing = 0, fate = null, unsure = false,
      seen_session = seen.session, seen_seq = seen.seq, seen_at = clock_timestamp(),
      nested = coalesce(seen.nested, vm.nested), network = seen.network, mac = seen.mac, address = seen.address,
      wanted = case when vm.unsure then seen.status
        when seen.by_guest and vm.leads is null and vm.holder is null and not vm.closed
        then 'POWERED_OFF' else vm.wanted end
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
      as seen(id uuid, session bigint, seq integer, incarnation bigint, status text, boot text,
        by_guest boolean, nested boolean, network text, mac text, address text)
    where vm.id = seen.id and vm.host = ${host} and vm.incarnation = seen.incarnation and vm.deleted_at is null
      and vm.fate is distinct from 'LOST' and (vm.seen_session, vm.seen_seq) < (seen.session, seen.seq)`.execute(
    db,
  )
}

/** Nobody can see the VMs of this host now. They keep what they were last seen as. */
export async function loseSight(db: Kysely<Database>, host: HostId): Promise<void> {
  await db
    .updateTable('vm')
    .set({ unseen: true })
    .where('host', '=', host)
    .where('deleted_at', 'is', null)
    .where('unseen', '=', false)
    .execute()
}

/** The VM as it is, for whoever holds its newest claim: until the end of the transaction nobody else changes it. */
export async function lockClaimed(tx: Tx, id: VmId, number: string): Promise<VmRow> {
  const vm = await tx
    .selectFrom('vm')
    .selectAll()
    .where('id', '=', id)
    .where('number', '=', number)
    .forNoKeyUpdate()
    .executeTakeFirst()
  if (!vm) throw staleClaim(number)
  return vm
}

/** Every write of a step carries the number of its claim. */
export async function writeClaimed(
  db: Kysely<Database>,
  id: VmId,
  number: string,
  set: UpdateObject<Database, 'vm'>,
): Promise<void> {
  const { numUpdatedRows } = await db
    .updateTable('vm')
    .set(set)
    .where('id', '=', id)
    .where('number', '=', number)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw staleClaim(number)
}

/** Placed on no host: nothing is reserved for it, and nobody has to see it. */
export const nowhere = {
  ...{ host: null, boot: null, unseen: false, missing: 0 },
  ...{ network: null, mac: null, address: null },
} as const

export const staleClaim = (number: string): Fault =>
  new Fault('stale', `${number} is not the newest claim`)
