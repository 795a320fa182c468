import { Fault } from '@skerry/fault'
import type { Nic, OrgId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { CloudTables, Tx } from '../database/tables.ts'
import {
  areSameCards,
  cardAtHost,
  planNic,
  type AllocationMode,
  type NetworkStock,
  type PlannedNic,
  type WantedNic,
} from '../domain/plan-nics.ts'
import type { Status } from '../domain/vm-status.ts'
import { networksIn } from '../tenants/network-rows.ts'
import type { VdcRow } from '../tenants/orgs.ts'
import { lockAll, stockOf, touchNetworks } from './network-stock.ts'
import type { VmRow } from './vms.ts'

export type NicRow = Selectable<CloudTables['nic']>

/** A card as a client names it. */
export interface NamedNic {
  readonly index: number
  /** The name of its network, or its id. */
  readonly network: string
  readonly mode: AllocationMode
  readonly address?: string
  readonly connected: boolean
}

/** A card as documents show it. */
export interface ShownNic extends PlannedNic {
  readonly networkName: string
  /** The prefix of the IPv6 addresses of its network; null: that has no IPv6. */
  readonly ipv6Prefix: string | null
  /** The address by which it is reached from outside; null: there is none. */
  readonly externalAddress: string | null
}

/** The cards of a VM as documents show them. */
export interface ShownCards {
  /** On networks across hosts. Without any, it has one card on the network of its host. */
  readonly nics: readonly ShownNic[]
  /** Whether it can have some. */
  readonly hasNetworks: boolean
}

export const noCards: ShownCards = { nics: [], hasNetworks: false }

type InVdc = Pick<VdcRow, 'org' | 'id'>

/** Of the 1:1 rule that names its address. */
const externalAddress = sql<string | null>`(select rule ->> 'external'
  from edge_gateway, jsonb_array_elements(edge_gateway.nat) rule
  where edge_gateway.org = network.org and edge_gateway.id = network.edge_gateway and rule ->> 'kind' = 'one-to-one'
    and rule ->> 'internal' = nic.address and coalesce((rule ->> 'enabled')::boolean, true) limit 1)`

/** The cards of these VMs, by VM, in their order. */
export async function nicsOf(
  db: Kysely<CloudTables>,
  vms: readonly VmId[],
): Promise<ReadonlyMap<VmId, readonly ShownNic[]>> {
  if (vms.length === 0) return new Map()
  const rows = await db
    .selectFrom('nic')
    .innerJoin('network', (join) =>
      join.onRef('network.org', '=', 'nic.org').onRef('network.id', '=', 'nic.network'),
    )
    .selectAll('nic')
    .select([
      'network.name as networkName',
      'network.ipv6_prefix as ipv6Prefix',
      externalAddress.as('externalAddress'),
    ])
    .where(sql<boolean>`nic.vm = any(${vms}::uuid[])`)
    .orderBy('nic.index')
    .execute()
  return Map.groupBy(rows, ({ vm }) => vm)
}

/** The cards of these VMs of one vdc. */
export async function cardsOf(
  db: Kysely<CloudTables>,
  vms: readonly Pick<VmRow, 'id' | 'vdc'>[],
): Promise<ReadonlyMap<VmId, ShownCards>> {
  const nics = await nicsOf(
    db,
    vms.map(({ id }) => id),
  )
  const plain = vms.find(({ id }) => !nics.has(id))
  const hasNetworks = plain !== undefined && (await haveNetworks(db, plain.vdc))
  return new Map(
    vms.map(({ id }) => [
      id,
      { nics: nics.get(id) ?? [], hasNetworks: nics.has(id) || hasNetworks },
    ]),
  )
}

async function haveNetworks(db: Kysely<CloudTables>, vdc: string): Promise<boolean> {
  const { rows } = await sql<{ ready: boolean }>`select has_networks(${vdc}) as ready`.execute(db)
  return rows[0]?.ready === true
}

/** The cards of a VM for its host; undefined: it has the card of its organisation's network on that host. */
export async function specNics(
  db: Kysely<CloudTables>,
  { org, id }: { readonly org: OrgId; readonly id: VmId },
): Promise<readonly Nic[] | undefined> {
  const rows = await db
    .selectFrom('nic')
    .innerJoin('network', (join) =>
      join.onRef('network.org', '=', 'nic.org').onRef('network.id', '=', 'nic.network'),
    )
    .innerJoin('vdc', (join) =>
      join.onRef('vdc.org', '=', 'network.org').onRef('vdc.id', '=', 'network.vdc'),
    )
    .innerJoin('network_zone', 'network_zone.id', 'vdc.zone')
    .selectAll('nic')
    .select('network_zone.mtu')
    .where('nic.org', '=', org)
    .where('nic.vm', '=', id)
    .orderBy('nic.index')
    .execute()
  if (rows.length === 0) return undefined
  return rows.map(({ index, id: nic, mac, mtu, connected, network, address }) => ({
    index,
    id: nic,
    mac,
    mtu,
    connected,
    network,
    ...(address !== null && { address }),
  }))
}

/** Gives cards to new VMs: those that they name, or one on the default network. Without networks in the vdc they get none. */
export async function connectNew(
  tx: Tx,
  vdc: InVdc,
  made: readonly { readonly vm: VmId; readonly nics?: readonly NamedNic[] }[],
): Promise<void> {
  const plain = made.some(({ nics }) => nics === undefined)
  const first = plain ? await defaultNetwork(tx, vdc.id) : null
  if (made.some(({ nics }) => nics !== undefined)) await requireReady(tx, vdc.id)
  const wanted: [VmId, readonly WantedNic[]][] = []
  for (const { vm, nics } of made) {
    if (nics) wanted.push([vm, await resolveNics(tx, vdc, nics)])
    else if (first !== null) wanted.push([vm, [onNetwork(first, 0)]])
  }
  await writeNics(tx, vdc.org, new Map(wanted))
}

/** A new VM is placed on a host that is ready for its networks: there must be one. */
async function requireReady(tx: Tx, vdc: string): Promise<void> {
  if (await haveNetworks(tx, vdc)) return
  throw new Fault('conflict', 'no host is ready for networks that reach across hosts', {
    hint: 'retry later, or name no network',
  })
}

/**
 * Refuses what the host of the VM would refuse. Whether cards are connected may change at any time; other changes need a VM that is
 * off, on a host that is ready for networks. `status`: the one that the VM has when its cards are changed.
 */
export async function requireChangeable(
  tx: Tx,
  { id, name, status }: { readonly id: VmId; readonly name: string; readonly status: Status },
  wanted: readonly WantedNic[],
  before: readonly PlannedNic[],
): Promise<void> {
  if (areSameCards(wanted, before)) return
  if (status !== 'POWERED_OFF') {
    throw new Fault(
      'conflict',
      `VM ${name} is ${status}: only IsConnected of its cards can change`,
      {
        hint: 'power it off to change networks and addresses',
      },
    )
  }
  const networks = wanted.map(({ network }) => network)
  const { rows } = await sql<{ ready: boolean; reached: boolean }>`
    select host_takes_cards(${id}) as ready, host_reaches(${id}, ${networks}::uuid[]) as reached`.execute(
    tx,
  )
  if (rows[0]?.ready === true && rows[0].reached) return
  if (rows[0]?.ready === true) {
    throw new Fault('conflict', `the host of VM ${name} is not connected to the external network`, {
      hint: 'create a VM on the network: it is placed on a host that is connected',
    })
  }
  throw new Fault(
    'conflict',
    `the host of VM ${name} is not ready for networks that reach across hosts`,
    { hint: 'retry later, or create a VM on the network: it is placed on a host that is ready' },
  )
}

const onNetwork = (network: string, index: number): WantedNic => ({
  index,
  network,
  mode: 'POOL',
  connected: true,
})

async function defaultNetwork(tx: Tx, vdc: string): Promise<string | null> {
  const { rows } = await sql<{
    id: string | null
  }>`select provide_default_network(${vdc}) as id`.execute(tx)
  return rows[0]?.id ?? null
}

/** Gives each copy a card on every network of its source, with an address of its own. */
export async function connectCopies(
  tx: Tx,
  org: OrgId,
  copies: readonly { readonly vm: VmId; readonly source: VmId }[],
): Promise<void> {
  const before = await nicsOf(
    tx,
    copies.map(({ source }) => source),
  )
  const wanted = copies.flatMap(({ vm, source }): [VmId, readonly WantedNic[]][] => {
    const nics = before.get(source) ?? []
    const copied = nics.map(({ index, network, mode, connected }) => ({
      index,
      network,
      mode: mode === 'MANUAL' ? ('POOL' as const) : mode,
      connected,
    }))
    return copied.length === 0 ? [] : [[vm, copied]]
  })
  await writeNics(tx, org, new Map(wanted))
}

/**
 * The networks that the cards name, by name or id, among those that VMs of the vdc may be on. Another vdc may share a network of the
 * same name: a card stays on the one that it is on (`before`), then the vdc's own comes first.
 */
export async function resolveNics(
  tx: Tx,
  vdc: InVdc,
  named: readonly NamedNic[],
  before: readonly PlannedNic[] = [],
): Promise<readonly WantedNic[]> {
  const networks = await networksIn(tx, vdc)
  return named.map((each) => {
    const now = before.find(({ index }) => index === each.index)?.network
    const called = networks.filter(({ id, name }) => id === each.network || name === each.network)
    const found =
      called.find(({ id }) => id === each.network) ??
      called.find(({ id }) => id === now) ??
      called.find(({ vdc: of }) => of === vdc.id) ??
      called[0]
    if (!found) {
      throw new Fault('invalid', `network ${each.network} not found in this vdc`, {
        hint: 'GET the vdc: its AvailableNetworks list them',
      })
    }
    return { ...each, network: found.id }
  })
}

export interface NicPlan {
  readonly before: readonly NicRow[]
  readonly stocks: ReadonlyMap<string, NetworkStock>
  readonly planned: readonly {
    readonly vm: VmId
    readonly nic: PlannedNic
    readonly earlier?: NicRow
  }[]
}

/** Plans the cards of these VMs, whatever they have now. Locks the networks that they are on and those that they will be on. */
export async function planNics(
  tx: Tx,
  wanted: ReadonlyMap<VmId, readonly WantedNic[]>,
): Promise<NicPlan> {
  const vms = [...wanted.keys()]
  const named = [...wanted.values()].flat().map(({ network }) => network)
  const left = (await nicRows(tx, vms)).map(({ network }) => network)
  const locked = await lockAll(tx, [...named, ...left])
  const stocks = new Map<string, NetworkStock>()
  for (const id of new Set(named)) {
    const network = locked.get(id)
    if (!network) throw new Fault('conflict', 'the network was deleted in the meantime')
    stocks.set(id, await stockOf(tx, network, vms))
  }
  // Read under the locks of the networks.
  const before = await nicRows(tx, vms)
  const macs = await macsAtHosts(tx, vms)
  const planned = [...wanted].flatMap(([vm, nics]) =>
    nics.map((each) => {
      const earlier = before.find((row) => row.vm === vm && row.index === each.index)
      const stock = stocks.get(each.network)
      if (!stock) throw new TypeError(`network ${each.network} is not locked`)
      const mac = each.index === 0 ? macs.get(vm) : undefined
      const atHost = mac === undefined ? undefined : cardAtHost(mac)
      const nic = planNic(vm, each, earlier ?? atHost, stock)
      // A card on another network is another card.
      return { vm, nic, ...(earlier?.network === nic.network && { earlier }) }
    }),
  )
  return { before, stocks, planned }
}

/** Writes the cards of these VMs, whatever they had before. */
export async function writeNics(
  tx: Tx,
  org: OrgId,
  wanted: ReadonlyMap<VmId, readonly WantedNic[]>,
): Promise<void> {
  if (wanted.size > 0) await writePlanned(tx, org, await planNics(tx, wanted))
}

/** Writes cards as they were planned in the same transaction. */
export async function writePlanned(
  tx: Tx,
  org: OrgId,
  { before, stocks, planned }: NicPlan,
): Promise<void> {
  const networks = [...stocks.keys(), ...before.map(({ network }) => network)]
  const ports = [...stocks].map(([id, { nextPort }]) => [id, nextPort])
  await touchNetworks(tx, networks, Object.fromEntries(ports))
  for (const { nic, earlier } of planned) if (earlier) await changeNic(tx, earlier, nic)
  const added = planned.flatMap(({ vm, nic, earlier }) => (earlier ? [] : [{ ...nic, org, vm }]))
  const kept = new Set(planned.flatMap(({ earlier }) => (earlier ? [earlier.id] : [])))
  const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id)
  if (gone.length > 0) await tx.deleteFrom('nic').where('id', 'in', gone).execute()
  if (added.length > 0) await tx.insertInto('nic').values(added).execute()
}

/** The MAC addresses of cards on the networks of hosts, which a first card on another network keeps: guests know it by that. */
async function macsAtHosts(tx: Tx, vms: readonly VmId[]): Promise<ReadonlyMap<VmId, string>> {
  const { rows } = await sql<{
    id: VmId
    mac: string
  }>`select id, mac from vm where id = any(${vms}::uuid[])
    and mac is not null and not exists (select from nic where nic.org = vm.org and nic.vm = vm.id)`.execute(
    tx,
  )
  return new Map(rows.map(({ id, mac }) => [id, mac]))
}

export const nicRows = (tx: Tx, vms: readonly VmId[]): Promise<NicRow[]> =>
  tx
    .selectFrom('nic')
    .selectAll()
    .where(sql<boolean>`vm = any(${vms}::uuid[])`)
    .execute()

async function changeNic(tx: Tx, earlier: NicRow, planned: PlannedNic): Promise<void> {
  const { mode, offset, address, connected } = planned
  if (
    earlier.mode === mode &&
    earlier.offset === offset &&
    earlier.connected === connected &&
    earlier.address === address
  ) {
    return
  }
  await tx
    .updateTable('nic')
    .set({ mode, offset, address, connected })
    .where('id', '=', earlier.id)
    .execute()
}
