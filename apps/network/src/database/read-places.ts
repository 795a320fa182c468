// What hosts would write into the southbound database.
import { sql, type Kysely } from 'kysely'

import type { KnownHost, RunningNic } from '../ovn/prefill-southbound.ts'

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
): Promise<readonly RunningNic[]> {
  const { rows } = await sql<RunningNic>`
    select nic.id, vm.host from nic join vm on vm.org = nic.org and vm.id = nic.vm
      join network on network.org = nic.org and network.id = nic.network
      join vdc on vdc.org = network.org and vdc.id = network.vdc
    where vdc.zone = ${zone}::uuid and nic.connected and vm.deleted_at is null and vm.host is not null
      and vm.status = 'POWERED_ON'`.execute(database)
  return rows
}
