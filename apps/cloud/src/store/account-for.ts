import type { HostId, OrgId, VmId } from '@skerry/vm'
import { sql, type RawBuilder } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Tx } from '../world.ts'

const EVENTS_AT_ONCE = 1000

interface Found {
  readonly org: OrgId | null
  readonly vapp: VappId | null
  readonly vm: VmId | null
  readonly host: HostId | null
  readonly what: Readonly<Record<string, unknown>>
}

/** Hosts whose records were read: only of what is placed there can it be said that it is not there. */
const wasRead = (recovery: number) => sql<boolean>`vm.host in (select id from host
  where state = 'joined' and read_in = ${recovery})`
const alive = sql<boolean>`vm.deleted_at is null and vm.fate is distinct from 'LOST'`
const mine = sql`said.host = vm.host and said.vm = vm.id`
const told = sql`vm.org, vm.vapp, vm.id as vm`

/**
 * Every row that a restore brought back, held against what the hosts say; every VM that the hosts have, held against the rows.
 * Each finding is an event. Nothing is sent to any host. Answers how many there were of each kind.
 */
export async function accountForAll(
  tx: Tx,
  recovery: number,
): Promise<Readonly<Record<string, number>>> {
  const found = {
    'vm.relived': await relive(tx, recovery),
    'vm.deleted': await bury(tx, recovery),
    'vm.unmade': await giveUpUnmade(tx),
    'vm.missing': await missMissing(tx, recovery),
    'debt.dropped': await dropDebts(tx),
    'vm.stray': await findStrays(tx, recovery),
  }
  await followPower(tx)
  const counts: Record<string, number> = {}
  for (const [kind, rows] of Object.entries(found)) {
    counts[kind] = rows.length
    await tellAll(tx, kind, rows)
  }
  return counts
}

/** Its own host has a later life of it: the backup is older than that. */
const relive = (tx: Tx, recovery: number) =>
  all(
    tx,
    sql`update vm set incarnation = said.incarnation, sent_on = true from host_record said
      where ${mine} and said.there and said.incarnation > vm.incarnation and ${alive} and ${wasRead(recovery)}
      returning ${told}, vm.host, jsonb_build_object('incarnation', said.incarnation::text) as what`,
  )

/** Deleted after the backup was made: the tombstone of its host says so. Unless somebody else has it. */
async function bury(tx: Tx, recovery: number): Promise<readonly Found[]> {
  const rows = await all(
    tx,
    sql`update vm set deleted_at = clock_timestamp(), closed = true, host = null, boot = null, unseen = false,
        fate = null, status = 'RESOLVED'
      from host_record said
      where ${mine} and said.gone and not said.there and said.incarnation >= vm.incarnation and ${alive}
        and ${wasRead(recovery)}
        and not exists (select from host_record other where other.vm = vm.id and other.there)
      returning ${told}, said.host, '{}'::jsonb as what`,
  )
  const vapps = [...new Set(rows.map(({ vapp }) => vapp))]
  await sql`update vapp set deleted_at = clock_timestamp(), closed = true
    where id = any(${vapps}::uuid[]) and deleted_at is null
      and not exists (select from vm where vm.vapp = vapp.id and vm.deleted_at is null)`.execute(tx)
  return rows
}

/** Was to be made when the backup was, and its task has ended: if it is seen after all, it is what it is seen as. */
const giveUpUnmade = (tx: Tx) =>
  all(
    tx,
    sql`update vm set status = 'FAILED_CREATION' where ${alive} and status = 'UNRESOLVED'
        and not exists (select from host_record said where ${mine} and said.there)
      returning ${told}, vm.host, '{}'::jsonb as what`,
  )

async function missMissing(tx: Tx, recovery: number): Promise<readonly Found[]> {
  const there = sql`select from host_record said where ${mine} and said.there
    and said.incarnation = vm.incarnation`
  await sql`update vm set fate = null where fate = 'MISSING' and deleted_at is null
    and exists (${there})`.execute(tx)
  return all(
    tx,
    sql`update vm set fate = 'MISSING' where ${alive} and fate is null and ${wasRead(recovery)}
        and status not in ('UNRESOLVED', 'FAILED_CREATION') and not exists (${there})
      returning ${told}, vm.host, '{}'::jsonb as what`,
  )
}

/** A power that was owed may have been paid, and changed again since. That nothing remains is owed for ever. */
const dropDebts = (tx: Tx) =>
  all(
    tx,
    sql`delete from debt where goal ->> 'be' <> 'gone'
      returning null as org, null as vapp, null as vm, debt.host, jsonb_build_object('vm', debt.vm, 'goal', goal) as what`,
  )

/** What the hosts have and no row speaks of: proposed for adoption, and until then nobody's. */
async function findStrays(tx: Tx, recovery: number): Promise<readonly Found[]> {
  await sql`delete from stray where host in (select id from host where read_in = ${recovery})`.execute(
    tx,
  )
  return all(
    tx,
    sql`with strays as (insert into stray (host, vm) select said.host, said.vm from host_record said
        where said.there
          and not exists (select from vm where ${mine} and vm.incarnation = said.incarnation and vm.deleted_at is null)
          and not exists (select from debt where debt.host = said.host and debt.vm = said.vm
            and debt.incarnation = said.incarnation)
        returning host, vm)
      select null as org, null as vapp, null as vm, said.host,
        jsonb_build_object('vm', said.vm, 'deed', said.deed, 'quarantined', said.lost) as what
      from host_record said join strays on strays.host = said.host and strays.vm = said.vm`,
  )
}

/**
 * What was wanted when the backup was made is wanted no longer: nothing is started or stopped because of it. A VM that is seen
 * now is wanted as it is, one that is not will be wanted as it is first seen.
 */
async function followPower(tx: Tx): Promise<void> {
  const seen = sql<boolean>`exists (select from host where host.id = vm.host and host.listed = host.session
    and host.follow_until > clock_timestamp()) and not unseen`
  await sql`update vm set unsure = not (${seen}), leads = null,
      wanted = case when ${seen} and status in ('POWERED_ON', 'POWERED_OFF', 'SUSPENDED') then status else wanted end
    where ${alive} and host is not null`.execute(tx)
}

async function all(tx: Tx, statement: RawBuilder<unknown>): Promise<readonly Found[]> {
  const { rows } = await (statement as RawBuilder<Found>).execute(tx)
  return rows
}

async function tellAll(tx: Tx, kind: string, rows: readonly Found[]): Promise<void> {
  for (let at = 0; at < rows.length; at += EVENTS_AT_ONCE) {
    const some = rows.slice(at, at + EVENTS_AT_ONCE)
    const events = some.map(({ what, ...rest }) => ({ kind, ...rest, what: JSON.stringify(what) }))
    await tx.insertInto('event').values(events).execute()
  }
}
