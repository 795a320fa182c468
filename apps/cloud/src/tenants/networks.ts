import { Fault } from '@skerry/fault'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'
import {
  planRange,
  requireApart,
  type AddressScope,
  type PlannedRange,
} from '../domain/address-range.ts'
import { may, type Principal } from '../domain/authorize.ts'
import { orConflict } from './accounts.ts'
import { requireRulesFit } from './edge-surroundings.ts'
import { leavingNics } from './leaving-nics.ts'
import {
  emitNetworkEvent,
  isZoneOpen,
  lockIfThere,
  lockNetworks,
  networkExists,
  noNetworks,
  type NetworkRow,
} from './network-rows.ts'
import type { VdcRow } from './orgs.ts'

export interface NewNetwork {
  readonly name: string
  readonly description?: string
  readonly fence: 'isolated' | 'natRouted' | 'bridged'
  /** The id of an edge gateway. Default: the default one of the vdc. */
  readonly edgeGateway?: string
  /** The id of the external network that a bridged one is. */
  readonly parent?: string
  /** A bridged network has none. */
  readonly scope?: NetworkScope
  readonly shared?: boolean
  /** Whether it has IPv6 too; only a routed network can. Default: it has none. */
  readonly ipv6?: boolean
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
  readonly ipv6?: boolean
}

export async function addNetwork(
  tx: Tx,
  principal: Principal,
  vdc: VdcRow,
  wanted: NewNetwork,
): Promise<NetworkRow> {
  if (vdc.disabled) throw new Fault('conflict', `vdc ${vdc.name} is disabled`)
  if (!(await isZoneOpen(tx, vdc))) throw noNetworks(vdc.name)
  const { ipv6 = false } = wanted
  if (ipv6 && wanted.fence !== 'natRouted') throw noIpv6(wanted.name)
  await lockNetworks(tx, vdc.org)
  if (wanted.fence === 'bridged') return addDirect(tx, principal, vdc, wanted)
  const { scope } = wanted
  if (!scope) throw new Fault('invalid', 'the Configuration of a network needs an IpScope')
  const planned = planRange(scope)
  const gateway =
    wanted.fence === 'natRouted' ? await edgeGatewayFor(tx, vdc, wanted.edgeGateway) : null
  if (gateway !== null) await requireRoom(tx, gateway, planned)
  const network = await orConflict(networkExists(wanted.name), () =>
    tx
      .insertInto('network')
      .values({
        ...describedBy(scope, planned),
        org: vdc.org,
        vdc: vdc.id,
        name: wanted.name,
        description: wanted.description ?? '',
        shared: wanted.shared ?? false,
        kind: gateway === null ? 'isolated' : 'routed',
        edge_gateway: gateway,
        edge_port: gateway === null ? null : sql<number>`free_edge_port(${gateway})`,
        ipv6_prefix: ipv6 ? takePrefix : null,
        key: sql<number>`take_network_key(${vdc.id})`,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await writeRanges(tx, network, planned)
  await emitNetworkEvent(tx, principal, network, 'created')
  return network
}

const takePrefix = sql<string>`take_ipv6_prefix()`

/** Only a router announces a prefix; a bridged network has what the site announces. */
const noIpv6 = (name: string): Fault =>
  new Fault('invalid', `network ${name} cannot have IPv6: only natRouted networks can`, {
    hint: 'leave IsIpv6Enabled out, or create a natRouted network',
  })

/** A network that is an external network itself: its VMs are on the site's own wire, so the administrators of the cloud make it. */
async function addDirect(
  tx: Tx,
  principal: Principal,
  vdc: VdcRow,
  { name, description = '', shared = false, parent, scope }: NewNetwork,
): Promise<NetworkRow> {
  if (!may(principal, 'external:admin')) {
    throw new Fault('forbidden', `the role ${principal.role} lacks the right external:admin`, {
      hint: 'administrators of the cloud create bridged networks',
    })
  }
  if (scope) throw new Fault('invalid', 'a bridged network has the addresses of its ParentNetwork')
  const external = await tx
    .selectFrom('external_network')
    .select('id')
    .where('id', '=', parent ?? null)
    .where('zone', '=', vdc.zone)
    .where('kind', '=', 'provider')
    .where('deleted_at', 'is', null)
    .forShare()
    .executeTakeFirst()
  if (!external) {
    throw new Fault(
      'invalid',
      'ParentNetwork must be an external network of the zone of this vdc',
      {
        hint: 'GET /api/admin/extension/externalNetworks lists them',
      },
    )
  }
  const network = await orConflict(networkExists(name), () =>
    tx
      .insertInto('network')
      .values({
        org: vdc.org,
        vdc: vdc.id,
        name,
        description,
        shared,
        kind: 'direct',
        external: external.id,
        key: sql<number>`take_network_key(${vdc.id})`,
      })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await emitNetworkEvent(tx, principal, network, 'created')
  return network
}

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
  { name, description, scope, shared, ipv6 }: ChangedNetwork,
): Promise<NetworkRow> {
  await lockNetworks(tx, org)
  const before = await lockNetwork(tx, id)
  if (scope && before.kind === 'direct') {
    throw new Fault('invalid', `network ${before.name} has the addresses of its ParentNetwork`)
  }
  const planned = scope && planRange(scope)
  if (scope && planned) await requireChangeable(tx, before, scope, planned)
  const switched = ipv6 !== undefined && ipv6 !== (before.ipv6_prefix !== null)
  if (switched) await requireIpv6Changeable(tx, before)
  const network = await orConflict(networkExists(name ?? before.name), () =>
    tx
      .updateTable('network')
      .set({
        name: name ?? before.name,
        ...(description !== undefined && { description }),
        ...(shared !== undefined && { shared }),
        ...(switched && { ipv6_prefix: ipv6 ? takePrefix : null }),
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
  if (planned && before.edge_gateway !== null) await requireRulesFit(tx, before.edge_gateway)
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

/** Guests keep the addresses that they made of the prefix: it comes and goes while no VM is on the network. */
async function requireIpv6Changeable(tx: Tx, before: NetworkRow): Promise<void> {
  if (before.kind !== 'routed') throw noIpv6(before.name)
  await requireEmpty(tx, before, 'IPv6 can be switched on or off when it has no VMs')
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
  if (before.edge_gateway !== null) await requireRulesFit(tx, before.edge_gateway)
  await emitNetworkEvent(tx, principal, network, 'deleted')
  return network
}

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
