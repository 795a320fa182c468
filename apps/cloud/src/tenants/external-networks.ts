import { Fault } from '@skerry/fault'
import { addressText, netmaskOf } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import { planExternalRange } from '../domain/address-range.ts'
import type { Principal } from '../domain/authorize.ts'
import { orConflict } from './accounts.ts'
import type { NetworkScope } from './networks.ts'

export type ExternalNetworkRow = Selectable<CloudTables['external_network']>

/** An external network with what its document shows. */
export interface WholeExternalNetwork {
  readonly external: ExternalNetworkRow
  /** Its pool, as numbers of addresses. */
  readonly ranges: readonly { readonly low: number; readonly high: number }[]
  /** How many addresses edge gateways and organisations have. */
  readonly allocated: number
}

export interface NewExternalNetwork {
  readonly name: string
  readonly description?: string
  readonly uplink: string
  /** Null: none. */
  readonly vlan?: number | null
  readonly scope: NetworkScope
  readonly isDefault?: boolean
}

export type ChangedExternalNetwork = Partial<NewExternalNetwork>

export const findExternalNetwork = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<ExternalNetworkRow | undefined> =>
  db
    .selectFrom('external_network')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()

export const externalNetworks = (db: Kysely<CloudTables>): Promise<ExternalNetworkRow[]> =>
  db
    .selectFrom('external_network')
    .selectAll()
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .orderBy('id')
    .execute()

export async function readWholeExternal(
  db: Kysely<CloudTables>,
  external: ExternalNetworkRow,
): Promise<WholeExternalNetwork> {
  const ranges = await db
    .selectFrom('external_range')
    .select(['low', 'high'])
    .where('external', '=', external.id)
    .orderBy('low')
    .execute()
  const { count } = await db
    .selectFrom('external_address')
    .select(sql<number>`count(*)::integer`.as('count'))
    .where('external', '=', external.id)
    .executeTakeFirstOrThrow()
  return {
    external,
    ranges: ranges.map(({ low, high }) => ({ low: Number(low), high: Number(high) })),
    allocated: count,
  }
}

const inUse = (name: string): string => `external network ${name} already exists`

export async function addExternalNetwork(
  tx: Tx,
  principal: Principal,
  { name, description = '', uplink, vlan = null, scope, isDefault = false }: NewExternalNetwork,
): Promise<ExternalNetworkRow> {
  const planned = planExternalRange(scope)
  const { id: zone } = await tx
    .selectFrom('network_zone')
    .select('id')
    .orderBy('id')
    .executeTakeFirstOrThrow()
  await lockDefault(tx)
  if (isDefault) await clearDefault(tx, zone)
  const external = await orConflict(inUse(name), () =>
    tx
      .insertInto('external_network')
      .values({
        zone,
        name,
        description,
        kind: 'provider',
        uplink,
        vlan,
        gateway: scope.gateway,
        prefix: planned.prefix,
        dns: [...(scope.dns ?? [])],
        is_default: isDefault,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await writePool(tx, external, planned)
  await emitExternalEvent(tx, principal, external, 'created')
  return external
}

/** External networks are made and changed one after the other, because only one can be the default. */
async function lockDefault(tx: Tx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('external networks', 0))`.execute(tx)
}

/** A zone has at most one default. */
async function clearDefault(tx: Tx, zone: string): Promise<void> {
  await tx
    .updateTable('external_network')
    .set({ is_default: false })
    .where('zone', '=', zone)
    .where('is_default', '=', true)
    .execute()
}

async function writePool(
  tx: Tx,
  external: ExternalNetworkRow,
  { base, pool }: ReturnType<typeof planExternalRange>,
): Promise<void> {
  const { id } = external
  await tx.deleteFrom('external_range').where('external', '=', id).execute()
  if (pool.length === 0) return
  await tx
    .insertInto('external_range')
    .values(pool.map(({ low, high }) => ({ external: id, low: base + low, high: base + high })))
    .execute()
  await requireOwnPool(tx, external)
}

/** No address is in the pools of two external networks of one segment: two edge gateways would answer for it. */
async function requireOwnPool(
  tx: Tx,
  { id, zone, uplink, vlan }: ExternalNetworkRow,
): Promise<void> {
  const { rows } = await sql<{ name: string; low: string }>`
    select other.name, greatest(ours.low, theirs.low) as low from external_range ours
      join external_range theirs on theirs.low <= ours.high and ours.low <= theirs.high
      join external_network other on other.id = theirs.external and other.deleted_at is null
    where ours.external = ${id} and other.id <> ${id} and other.zone = ${zone}
      and other.uplink = ${uplink} and other.vlan is not distinct from ${vlan}::integer
    order by 2, 1 limit 1`.execute(tx)
  const [shared] = rows
  if (shared === undefined) return
  const address = addressText(Number(shared.low))
  throw new Fault('conflict', `${address} is in the pool of external network ${shared.name}`, {
    hint: 'give each external network of an uplink and VLAN IpRanges of its own',
  })
}

/** Locks it: addresses of its pool are given out one after the other. */
async function lockExternal(tx: Tx, id: string): Promise<ExternalNetworkRow> {
  const row = await tx
    .selectFrom('external_network')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forUpdate()
    .executeTakeFirst()
  if (!row) throw new Fault('conflict', 'the external network was deleted in the meantime')
  if (row.kind === 'provider') return row
  throw new Fault('conflict', `external network ${row.name} belongs to the system`, {
    hint: 'create another one, and make it the default',
  })
}

export async function changeExternalNetwork(
  tx: Tx,
  principal: Principal,
  { id }: Pick<ExternalNetworkRow, 'id'>,
  changed: ChangedExternalNetwork,
): Promise<ExternalNetworkRow> {
  await lockDefault(tx)
  const before = await lockExternal(tx, id)
  requireSamePlace(before, changed)
  const { name = before.name, description, scope, isDefault } = changed
  if (isDefault === true) await clearDefault(tx, before.zone)
  const external = await orConflict(inUse(name), () =>
    tx
      .updateTable('external_network')
      .set({
        name,
        ...(description !== undefined && { description }),
        ...(scope?.dns && { dns: [...scope.dns] }),
        ...(isDefault !== undefined && { is_default: isDefault }),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  if (scope?.ranges) {
    await writePool(tx, external, planExternalRange(scope))
    await requirePooled(tx, external)
  }
  await emitExternalEvent(tx, principal, external, 'changed')
  return external
}

/** Edge gateways have addresses there, and hosts are connected to it: another place is another external network. */
function requireSamePlace(
  { gateway, prefix, uplink, vlan }: ExternalNetworkRow,
  changed: ChangedExternalNetwork,
): void {
  const { scope } = changed
  const other = [
    ...(scope && scope.gateway !== gateway ? ['Gateway'] : []),
    ...(scope && scope.netmask !== netmaskOf(prefix) ? ['Netmask'] : []),
    ...(changed.uplink !== undefined && changed.uplink !== uplink ? ['Uplink'] : []),
    ...(changed.vlan !== undefined && changed.vlan !== vlan ? ['Vlan'] : []),
  ]
  if (other.length === 0) return
  throw new Fault('conflict', `${other.join(' and ')} of an external network cannot be changed`, {
    hint: 'create another external network, and connect the edge gateways to it',
  })
}

/** Addresses that are in use stay in the pool. */
async function requirePooled(tx: Tx, { id, name }: ExternalNetworkRow): Promise<void> {
  const { rows } = await sql<{ address: string }>`
    select address from external_address used where used.external = ${id}
      and not exists (select from external_range where external_range.external = ${id} and used.number between low and high)
    order by number limit 5`.execute(tx)
  if (rows.length === 0) return
  const which = rows.map(({ address }) => address).join(', ')
  throw new Fault('conflict', `addresses of external network ${name} are in use: ${which}`, {
    hint: 'keep them in its IpRanges, or have them released first',
  })
}

export async function deleteExternalNetwork(
  tx: Tx,
  principal: Principal,
  { id }: Pick<ExternalNetworkRow, 'id'>,
): Promise<void> {
  const external = await lockExternal(tx, id)
  const gateway = await tx
    .selectFrom('edge_gateway')
    .select('name')
    .where('external', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  const network = await tx
    .selectFrom('network')
    .select('name')
    .where('external', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (gateway || network) {
    const what = gateway ? `edge gateway ${gateway.name}` : `network ${network?.name}`
    throw new Fault('conflict', `${what} leads to external network ${external.name}`, {
      hint: 'connect it to another external network, or delete it',
    })
  }
  await tx
    .updateTable('external_network')
    .set({ deleted_at: sql<Date>`clock_timestamp()`, is_default: false })
    .where('id', '=', id)
    .execute()
  await emitExternalEvent(tx, principal, external, 'deleted')
}

/** The pool as the document writes it. */
export const poolTexts = ({
  ranges,
}: Pick<WholeExternalNetwork, 'ranges'>): readonly (readonly [start: string, end: string])[] =>
  ranges.map(({ low, high }) => [addressText(low), addressText(high)])

const emitExternalEvent = (
  tx: Tx,
  principal: Principal,
  { id, name }: ExternalNetworkRow,
  what: 'created' | 'changed' | 'deleted',
): Promise<void> =>
  emitEvent(tx, {
    kind: `external.${what}`,
    details: { ...by(principal), external: id, name },
  })
