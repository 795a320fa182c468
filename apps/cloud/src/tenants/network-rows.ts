import { Fault } from '@skerry/fault'
import type { OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { OffsetRange } from '../domain/address-range.ts'
import type { Principal } from '../domain/authorize.ts'
import type { VdcRow } from './orgs.ts'

export type NetworkRow = Selectable<CloudTables['network']>

/** A network with what its document shows. */
export interface WholeNetwork {
  readonly network: NetworkRow
  readonly ranges: readonly OffsetRange[]
  /** The name of its edge gateway; null: it has none. */
  readonly gatewayName: string | null
  /** The name of the external network that it is; null: it is none. */
  readonly externalName: string | null
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
  const external =
    network.external === null
      ? undefined
      : await db
          .selectFrom('external_network')
          .select('name')
          .where('id', '=', network.external)
          .executeTakeFirst()
  return {
    network,
    ranges: await rangesOf(db, id),
    gatewayName: gateway?.name ?? null,
    externalName: external?.name ?? null,
  }
}

const rangesOf = (db: Kysely<CloudTables>, network: string): Promise<OffsetRange[]> =>
  db
    .selectFrom('network_range')
    .select(['low', 'high'])
    .where('network', '=', network)
    .orderBy('low')
    .execute()

/** The networks that an organisation has, in all its vdcs. */
export const networksOf = (db: Kysely<CloudTables>, org: OrgId): Promise<NetworkRow[]> =>
  existing(db, org).execute()

const existing = (db: Kysely<CloudTables>, org: OrgId) =>
  db
    .selectFrom('network')
    .selectAll()
    .where('org', '=', org)
    .where('deleted_at', 'is', null)
    .orderBy('name')
    .orderBy('id')

/** The networks that VMs of a vdc may be on: its own, and those that other vdcs of the organisation share. */
export const networksIn = (
  db: Kysely<CloudTables>,
  { org, id }: Pick<VdcRow, 'org' | 'id'>,
): Promise<NetworkRow[]> =>
  existing(db, org)
    .where((where) => where.or([where('vdc', '=', id), where('shared', '=', true)]))
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

/** Why a name cannot be given twice. */
export const networkExists = (name: string): string => `network ${name} already exists`

/** Locks a network that is not deleted. Changes of its cards lock it too. */
export const lockIfThere = (tx: Tx, id: string): Promise<NetworkRow | undefined> =>
  tx
    .selectFrom('network')
    .selectAll()
    .where('id', '=', id)
    .where('deleted_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()

export const noNetworks = (vdc: string): Fault =>
  new Fault('conflict', `vdc ${vdc} has no networks across hosts: no network server runs`, {
    hint: 'administrators start one with skerry admin network-server create',
  })

export const emitNetworkEvent = (
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
