import { sizeOfPrefix, type Nic, type OrgId, type VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'
import { readAddress } from '../domain/address-range.ts'
import { planNic, type NetworkStock, type WantedNic } from '../domain/plan-nics.ts'
import { lockAll, stockOf, touchNetworks } from './network-stock.ts'
import { nicRows, type NicRow } from './nics.ts'
import { lockClaimed } from './vms.ts'

interface OwnedVm {
  readonly org: OrgId
  readonly id: VmId
}

/**
 * Gives a VM the cards back that its host has: those on networks that still exist, with the same ids and MAC addresses. An address
 * that another VM got in the meantime is replaced.
 */
export async function restoreNics(
  tx: Tx,
  { org, id: vm }: OwnedVm,
  nics: readonly Nic[],
): Promise<void> {
  // Hosts name networks, and could name one of another organisation.
  const own = await tx
    .selectFrom('network')
    .select('id')
    .where('org', '=', org)
    .where(sql<boolean>`id = any(${nics.map(({ network }) => network)}::uuid[])`)
    .execute()
  const locked = await lockAll(
    tx,
    own.map(({ id }) => id),
  )
  await touchNetworks(tx, locked.keys())
  const stocks = new Map<string, NetworkStock>()
  for (const [id, network] of locked) stocks.set(id, await stockOf(tx, network, [vm]))
  for (const nic of nics) {
    const stock = stocks.get(nic.network)
    if (!stock) continue
    const planned = planNic(vm, restored(nic, stock), { ...unknown, ...nic, network: '' }, stock)
    // What it was before is not known; the cloud never changes an address that a card has.
    const mode = planned.address === null ? 'NONE' : 'POOL'
    await tx
      .insertInto('nic')
      .values({ ...planned, mode, org, vm, id: nic.id })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    await touchNetworks(tx, [nic.network], { [nic.network]: stock.nextPort })
  }
}

const unknown = { mode: 'POOL', offset: null, address: null, key: 0 } as const

function restored({ index, network, address, connected }: Nic, stock: NetworkStock): WantedNic {
  const card = { index, network, connected }
  if (address === undefined) return { ...card, mode: 'NONE' }
  const offset = (readAddress(address) ?? 0) - stock.base
  const isFree = offset > 0 && offset < sizeOfPrefix(stock.prefix) - 1 && !stock.taken.has(offset)
  return isFree ? { ...card, mode: 'MANUAL', address } : { ...card, mode: 'POOL' }
}

/**
 * Gives a VM the cards back that it had before a change, with all that they had: until the task of the change ends, no other card
 * gets it, and their networks cannot be deleted. Returns whether anything was changed.
 */
export async function reinstateNics(
  tx: Tx,
  vm: OwnedVm,
  fencingToken: string,
  before: readonly NicRow[],
): Promise<boolean> {
  const now = await nicRows(tx, [vm.id])
  if (now.length === before.length && before.every((card) => now.some(isSame(card)))) return false
  const networks = [...now, ...before].map(({ network }) => network)
  const locked = await lockAll(tx, networks)
  await lockClaimed(tx, vm.id, fencingToken)
  await touchNetworks(tx, locked.keys())
  await tx.deleteFrom('nic').where('vm', '=', vm.id).execute()
  const there = before.filter(({ network }) => locked.has(network))
  if (there.length === 0) return true
  await tx
    .insertInto('nic')
    .values(there)
    // An undo must not fail for ever.
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return true
}

const columns = ['id', 'index', 'network', 'mode', 'offset', 'mac', 'key', 'connected'] as const

const isSame =
  (one: NicRow) =>
  (other: NicRow): boolean =>
    columns.every((column) => one[column] === other[column])
