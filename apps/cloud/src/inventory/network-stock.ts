import type { VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'
import { readAddress } from '../domain/address-range.ts'
import type { NetworkStock } from '../domain/plan-nics.ts'
import { leavingNics } from '../tenants/leaving-nics.ts'
import { lockIfThere, type NetworkRow } from '../tenants/network-rows.ts'

/** Locks networks in the order of their ids, so that two requests cannot deadlock. Returns those that are not deleted. */
export async function lockAll(
  tx: Tx,
  networks: Iterable<string>,
): Promise<ReadonlyMap<string, NetworkRow>> {
  const locked = new Map<string, NetworkRow>()
  for (const id of [...new Set(networks)].toSorted()) {
    const row = await lockIfThere(tx, id)
    if (row) locked.set(id, row)
  }
  return locked
}

const RESTING = '10 min'

/** What the cards of a locked network have. `vms`: those whose cards are planned; what they had before is not kept from them. */
export async function stockOf(
  tx: Tx,
  network: NetworkRow,
  vms: readonly VmId[],
): Promise<NetworkStock> {
  const { id, name, next_port: nextPort } = network
  // A direct network has none of these.
  const { base, prefix, gateway } = network
  const pool = await tx
    .selectFrom('network_range')
    .select(['low', 'high'])
    .where('network', '=', id)
    .orderBy('low')
    .execute()
  const nics = await tx
    .selectFrom('nic')
    .select(['offset', 'mac', 'key'])
    .where('network', '=', id)
    .execute()
  const resting = await tx
    .selectFrom('released_address')
    .select('offset')
    .where('network', '=', id)
    .where(sql<boolean>`released_at > clock_timestamp() - ${sql.lit(RESTING)}::interval`)
    .execute()
  const leaving = await leavingNics(tx, network)
  const kept = [...nics, ...leaving.filter(({ vm }) => !vms.includes(vm))]
  const offsets = kept.flatMap(({ offset }) => (offset === null ? [] : [offset]))
  return {
    name,
    direct: base === null,
    base: Number(base),
    prefix: prefix ?? 0,
    gateway: gateway ?? '',
    pool,
    taken: new Set([...offsets, (readAddress(gateway ?? '') ?? 0) - Number(base)]),
    resting: new Set(resting.map(({ offset }) => offset)),
    macs: new Set(kept.map(({ mac }) => mac)),
    keys: new Set(kept.map(({ key }) => key)),
    nextPort,
  }
}

/**
 * Writes the next keys of locked networks whose cards are about to change. One statement lists the changes of all of them, in their
 * order: the statements after it find them listed, and cannot deadlock with others that list several.
 */
export async function touchNetworks(
  tx: Tx,
  networks: Iterable<string>,
  nextPorts: Readonly<Record<string, number>> = {},
): Promise<void> {
  const ids = [...new Set(networks)]
  if (ids.length === 0) return
  await sql`update network set next_port = coalesce((${JSON.stringify(nextPorts)}::jsonb ->> id::text)::integer, next_port)
    where id = any(${ids}::uuid[])`.execute(tx)
}
