// What hosts would write into the southbound database.
import { sql, type Kysely } from 'kysely'

import type { KnownHost, PlacedPort } from '../ovn/prefill-southbound.ts'
import { outsidePortName } from '../projection/edge-gateway-rows.ts'

/** The hosts that are ready, the most recently seen first. */
export async function readHosts<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<readonly KnownHost[]> {
  const { rows } = await sql<KnownHost>`
    select id, name, tunnel_address as "tunnelAddress" from host
    where zone = ${zone}::uuid and state = 'joined' and overlay = 'ready' and tunnel_address is not null
    order by seen_at desc nulls last, id`.execute(database)
  return rows
}

/** The ids of all hosts of the zone that are neither revoked nor lost. */
export async function readJoined<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ id: string }>`
    select id from host where zone = ${zone}::uuid and state = 'joined'`.execute(database)
  return new Set(rows.map(({ id }) => id))
}

export async function readRunningNics<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<readonly PlacedPort[]> {
  const { rows } = await sql<PlacedPort>`
    select nic.id as name, vm.host from nic join vm on vm.org = nic.org and vm.id = nic.vm
      join network on network.org = nic.org and network.id = nic.network
      join vdc on vdc.org = network.org and vdc.id = network.vdc
    where vdc.zone = ${zone}::uuid and nic.connected and vm.deleted_at is null and vm.host is not null
      and vm.status = 'POWERED_ON'`.execute(database)
  return rows
}

/** Edge gateways with the host that carries them: the preferred one of those that are ready. If it is another one, that host says so. */
export async function readCarriedGateways<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<readonly PlacedPort[]> {
  const { rows } = await sql<{ readonly id: string; readonly host: string }>`
    select distinct on (edge_gateway.id) edge_gateway.id, host.id as host
    from edge_gateway join edge_group on edge_group.id = edge_gateway.edge_group
      join unnest(edge_gateway.hosts) with ordinality as carrier(host, place) on true
      join host on host.id = carrier.host
    where edge_group.zone = ${zone}::uuid and edge_gateway.deleted_at is null and host.state = 'joined' and host.overlay = 'ready'
    order by edge_gateway.id, carrier.place`.execute(database)
  // OVN gives the port that a host carries a name of its own.
  return rows.map(({ id, host }) => ({ name: `cr-${outsidePortName(id)}`, host }))
}
