import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import {
  planRange,
  requireApart,
  type AddressScope,
  type OffsetRange,
  type PlannedRange,
} from '../domain/address-range.ts'
import type { Principal } from '../domain/authorize.ts'
import { orConflict } from './accounts.ts'
import { leavingNics } from './leaving-nics.ts'
import type { VdcRow } from './orgs.ts'

export type NetworkRow = Selectable<CloudTables['network']>

/** A network with what its document shows. */
export interface WholeNetwork {
  readonly network: NetworkRow
  readonly ranges: readonly OffsetRange[]
  /** The name of its edge gateway; null: it has none. */
  readonly gatewayName: string | null
}

export interface NewNetwork {
  readonly name: string
  readonly description?: string
  readonly fence: 'isolated' | 'natRouted'
  /** The id of an edge gateway. Default: the default one of the vdc. */
  readonly edgeGateway?: string
  readonly scope: NetworkScope
  readonly shared?: boolean
}

export interface NetworkScope extends AddressScope {
  /** Default for a new network: none. */
  readonly dns?: readonly string[]
  /** Empty: none. */
  readonly suffix?: string
}

export interface ChangedNetwork {
  readonly name?: string
  readonly description?: string
  readonly scope?: NetworkScope
  readonly shared?: boolean
}

/** `gone`: also if it was deleted. */
export function findNetwork(
  db: Kysely<CloudTables>,
  id: string,
  { gone = false }: { readonly gone?: boolean } = {},
): Promise<NetworkRow | undefined> {
  const query = db.selectFrom('network').selectAll().where('id', '=', id)
  return (gone ? query : query.where('deleted_at', 'is', null)).executeTakeFirst()
}

/** A network, also if it was deleted: a repeated request gets the network that it created. */
export async function readWholeNetwork(db: Kysely<CloudTables>, id: string): Promise<WholeNetwork> {
  const network = await db
    .selectFrom('network')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  const gateway =
    network.edge_gateway === null
      ? undefined
      : await db
          .selectFrom('edge_gateway')
          .select('name')
          .where('id', '=', network.edge_gateway)
          .executeTakeFirst()
  return { network, ranges: await rangesOf(db, id), gatewayName: gateway?.name ?? null }
}

const rangesOf = (db: Kysely<CloudTables>, network: string): Promise<OffsetRange[]> =>
  db
    .selectFrom('network_range')
    .select(['low', 'high'])
    .where('network', '=', network)
    .orderBy('low')
    .execute()

/** The networks that VMs of a vdc may be on: its own, and those that other vdcs of the organisation share. */
export const networksIn = (
  db: Kysely<CloudTables>,
  { org, id }: Pick<VdcRow, 'org' | 'id'>,
): Promise<NetworkRow[]> =>
  db
    .selectFrom('network')
    .selectAll()
    .where('org', '=', org)
    .where('deleted_at', 'is', null)
    .where((where) => where.or([where('vdc', '=', id), where('shared', '=', true)]))
    .orderBy('name')
    .orderBy('id')
    .execute()

/** Whether networks can be made in a vdc: a network server has opened its zone. */
export async function isZoneOpen(
  db: Kysely<CloudTables>,
  { zone }: Pick<VdcRow, 'zone'>,
): Promise<boolean> {
  const found = await db
    .selectFrom('network_zone')
    .select('id')
    .where('id', '=', zone)
    .where('opened', '>', '0')
    .executeTakeFirst()
  return found !== undefined
}

export interface AllocatedAddress {
  readonly address: string
  readonly vm: VmId
  readonly name: string
  readonly on: boolean
}

/** The addresses of a network that cards have, in their order. */
export const allocatedIn = (
  db: Kysely<CloudTables>,
  network: string,
): Promise<AllocatedAddress[]> =>
  db
    .selectFrom('nic')
    .innerJoin('vm', (join) => join.onRef('vm.org', '=', 'nic.org').onRef('vm.id', '=', 'nic.vm'))
    .select([
      sql<string>`nic.address`.as('address'),
      'vm.id as vm',
      'vm.name',
      sql<boolean>`vm.status = 'POWERED_ON'`.as('on'),
    ])
    .where('nic.network', '=', network)
    .where('nic.address', 'is not', null)
    .orderBy('nic.offset')
    .execute()

/** The networks of an organisation are made and changed one after the other, because their ranges must not meet. */
export async function lockNetworks(tx: Tx, org: OrgId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('networks/' || ${org}::text, 0))`.execute(
    tx,
  )
}

const inUse = (name: string): string => `network ${name} already exists`

export async function addNetwork(
  tx: Tx,
  principal: Principal,
  vdc: VdcRow,
  wanted: NewNetwork,
): Promise<NetworkRow> {
  if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
  if (!(await isZoneOpen(tx, vdc))) throw noNetworks(vdc.name)
  const planned = planRange(wanted.scope)
  await lockNetworks(tx, vdc.org)
  const gateway =
    wanted.fence === 'natRouted' ? await edgeGatewayFor(tx, vdc, wanted.edgeGateway) : null
  if (gateway !== null) await requireRoom(tx, gateway, planned)
  const network = await orConflict(inUse(wanted.name), () =>
    tx
      .insertInto('network')
      .values({
        ...describedBy(wanted.scope, planned),
        org: vdc.org,
        vdc: vdc.id,
        name: wanted.name,
        description: wanted.description ?? '',
        shared: wanted.shared ?? false,
        kind: gateway === null ? 'isolated' : 'routed',
        edge_gateway: gateway,
        edge_port: gateway === null ? null : sql<number>`free_edge_port(${gateway})`,
        key: sql<number>`take_network_key(${vdc.id})`,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await writeRanges(tx, network, planned)
  await emitNetworkEvent(tx, principal, network, 'created')
  return network
}

export const noNetworks = (vdc: string): Fault =>
  new Fault('conflict', `vdc ${vdc} has no networks across hosts: no network server runs`, {
    hint: 'administrators start one with skerry admin network-server create',
  })

const describedBy = ({ gateway, dns, suffix }: NetworkScope, { base, prefix }: PlannedRange) => ({
  base,
  prefix,
  gateway,
  ...(dns && { dns: [...dns] }),
  ...(suffix !== undefined && { dns_suffix: suffix === '' ? null : suffix }),
})

async function writeRanges(
  tx: Tx,
  { org, id }: NetworkRow,
  { pool }: Pick<PlannedRange, 'pool'>,
): Promise<void> {
  await tx.deleteFrom('network_range').where('network', '=', id).execute()
  if (pool.length === 0) return
  await tx
    .insertInto('network_range')
    .values(pool.map(({ low, high }) => ({ org, network: id, low, high })))
    .execute()
}

/** The named edge gateway of the vdc, or the default one, which is made now if there is none. */
async function edgeGatewayFor(tx: Tx, vdc: VdcRow, id: string | undefined): Promise<string> {
  if (id === undefined) {
    const { rows } = await sql<{
      id: string | null
    }>`select provide_default_edge_gateway(${vdc.id}) as id`.execute(tx)
    const made = rows[0]?.id ?? null
    if (made !== null) return made
    throw new Fault('conflict', 'no host can carry an edge gateway now', {
      hint: 'create an isolated network, or ask the administrators of the cloud',
    })
  }
  const found = await tx
    .selectFrom('edge_gateway')
    .select('id')
    .where('org', '=', vdc.org)
    .where('vdc', '=', vdc.id)
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (found) return found.id
  throw new Fault('invalid', 'edge gateway not found in this vdc', {
    hint: 'leave EdgeGateway out: the default one is used',
  })
}

const NETWORKS_OF_GATEWAY_MAX = 64

async function requireRoom(
  tx: Tx,
  gateway: string,
  planned: PlannedRange,
  except?: string,
): Promise<void> {
  const rows = await tx
    .selectFrom('network')
    .select(['id', 'name', 'base', 'prefix'])
    .where('edge_gateway', '=', gateway)
    .where('deleted_at', 'is', null)
    .execute()
  const others = rows.filter(({ id }) => id !== except)
  if (others.length >= NETWORKS_OF_GATEWAY_MAX) {
    throw new Fault(
      'conflict',
      `an edge gateway can have at most ${NETWORKS_OF_GATEWAY_MAX} networks`,
    )
  }
  requireApart(
    planned,
    others.map(({ name, base, prefix }) => ({ name, base: Number(base), prefix: prefix ?? 0 })),
  )
}

export async function changeNetwork(
  tx: Tx,
  principal: Principal,
  { id, org }: Pick<NetworkRow, 'id' | 'org'>,
  { name, description, scope, shared }: ChangedNetwork,
): Promise<NetworkRow> {
  await lockNetworks(tx, org)
  const before = await lockNetwork(tx, id)
  const planned = scope && planRange(scope)
  if (scope && planned) await requireChangeable(tx, before, scope, planned)
  const network = await orConflict(inUse(name ?? before.name), () =>
    tx
      .updateTable('network')
      .set({
        name: name ?? before.name,
        ...(description !== undefined && { description }),
        ...(shared !== undefined && { shared }),
        ...(scope && planned && describedBy(scope, planned)),
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  // Without IpRanges the pool stays, unless the range is another one.
  if (planned && (scope?.ranges || isMoved(before, planned))) {
    await writeRanges(tx, network, planned)
  }
  await emitNetworkEvent(tx, principal, network, 'changed')
  return network
}

const isMoved = (before: NetworkRow, { base, prefix }: PlannedRange): boolean =>
  Number(before.base) !== base || before.prefix !== prefix

/** Guests have learnt gateway and netmask: they stay while a VM is on the network. */
async function requireChangeable(
  tx: Tx,
  before: NetworkRow,
  { gateway }: NetworkScope,
  planned: PlannedRange,
): Promise<void> {
  if (!isMoved(before, planned) && before.gateway === gateway) return
  await requireEmpty(tx, before, 'gateway and netmask can be changed when it has no VMs')
  if (before.edge_gateway !== null) await requireRoom(tx, before.edge_gateway, planned, before.id)
}

export async function deleteNetwork(
  tx: Tx,
  principal: Principal,
  { id, org }: Pick<NetworkRow, 'id' | 'org'>,
): Promise<NetworkRow> {
  await lockNetworks(tx, org)
  const before = await lockNetwork(tx, id)
  await requireEmpty(tx, before, 'delete the VM, or connect it to another network')
  const network = await tx
    .updateTable('network')
    .set({ deleted_at: sql<Date>`clock_timestamp()` })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitNetworkEvent(tx, principal, network, 'deleted')
  return network
}

/** Locks a network that is not deleted. Changes of its cards lock it too. */
export const lockIfThere = (tx: Tx, id: string): Promise<NetworkRow | undefined> =>
  tx
    .selectFrom('network')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()

async function lockNetwork(tx: Tx, id: string): Promise<NetworkRow> {
  const row = await lockIfThere(tx, id)
  if (row) return row
  throw new Fault('conflict', 'the network was deleted in the meantime')
}

async function requireEmpty(tx: Tx, network: NetworkRow, hint: string): Promise<void> {
  const { id, name } = network
  const first = await tx
    .selectFrom('nic')
    .innerJoin('vm', (join) => join.onRef('vm.org', '=', 'nic.org').onRef('vm.id', '=', 'nic.vm'))
    .select('vm.name')
    .where('nic.network', '=', id)
    .orderBy('vm.name')
    .executeTakeFirst()
  if (first) throw new Fault('conflict', `VM ${first.name} is on network ${name}`, { hint })
  const [leaving] = await leavingNics(tx, network)
  if (leaving) {
    throw new Fault('conflict', `VM ${leaving.vmName} is leaving network ${name}`, {
      hint: 'retry when its task has ended',
    })
  }
}

const emitNetworkEvent = (
  tx: Tx,
  principal: Principal,
  { org, id, name, vdc }: NetworkRow,
  what: 'created' | 'changed' | 'deleted',
): Promise<void> =>
  emitEvent(tx, {
    kind: `network.${what}`,
    org,
    details: { ...by(principal), network: id, name, vdc },
  })
