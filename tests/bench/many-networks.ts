// A zone with many organisations, each with a routed network behind an edge gateway of its own and some cards; as rows, because
// creating them by requests would be most of the work.
import { sql } from 'kysely'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { DIGEST } from '../../apps/cloud/test/cloud-database.ts'
import type { NetworkSite } from '../network/network-site.ts'

/** The host that is there in reality. It carries the first edge gateways and no VM. */
export const GATEWAY_HOST = 'host-1'
/** A host that carries VMs and no edge gateway of the first ones. */
export const VM_HOST = 'host-30'
const HOSTS = 30
const CARRIED = 3
const GROUP_MAX = 100

/**
 * An id of the last year. OVN's programs find rows by the first 32 bits of an id, which are its time: rows that all came in the same
 * minute would be searched one by one, which no real cloud makes them do.
 */
const earlierId = sql`(lpad(to_hex((extract(epoch from clock_timestamp()) * 1000)::bigint - (random() * 31536000000)::bigint), 12, '0')
  || '7' || substr(replace(gen_random_uuid()::text, '-', ''), 14))::uuid`

/** Adds what is missing to this many networks. */
export async function growZone(
  { cloud }: NetworkSite,
  networks: number,
  cards: number,
): Promise<void> {
  await cloud.asOwner(async (db) => {
    await db.transaction().execute(async (tx) => {
      await addHosts(tx)
      await addOrganisations(tx, networks)
      await addGroups(tx, networks)
      await addNetworks(tx, networks)
      await addCards(tx, networks, cards)
    })
    await sql`analyze`.execute(db)
  })
}

type Rows = Kysely<CloudTables>

/** The first three hosts carry the first group, and no VMs: what they know is what edge gateways make them know. */
async function addHosts(db: Rows): Promise<void> {
  await sql`insert into host (name, address, port, public_key, enabled, first_list_read, cpus, memory_mib, disk_mib,
      overlay, uplinks, tunnel_address)
    select 'host-' || n, '127.0.0.1', 1, 'host-' || n, true, true, 64, 65536, 1000000,
      'ready', '{out}', '192.0.2.' || (6 + n)
    from generate_series(2, ${HOSTS}::integer) n where not exists (select from host where host.name = 'host-' || n)`.execute(
    db,
  )
}

async function addOrganisations(db: Rows, networks: number): Promise<void> {
  await sql`insert into org (name) select 'tenant-' || n from generate_series(1, ${networks}::integer) n
    where not exists (select from org where org.name = 'tenant-' || n)`.execute(db)
  await sql`insert into vdc (org, name) select id, 'main' from org
    where name like 'tenant-%' and not exists (select from vdc where vdc.org = org.id)`.execute(db)
}

/** Group 0 has three edge gateways; each other has up to a hundred, on three other hosts. */
async function addGroups(db: Rows, networks: number): Promise<void> {
  const groups = 1 + Math.ceil(Math.max(0, networks - CARRIED) / GROUP_MAX)
  await sql`insert into edge_group (zone, key) select network_zone.id, 1000000 + n
    from network_zone, generate_series(0, ${groups - 1}::integer) n on conflict do nothing`.execute(
    db,
  )
  await sql`insert into edge_group_host (edge_group, host)
    select edge_group.id, host.id from edge_group, generate_series(0, 2) place, host
    where host.name = 'host-' || case when edge_group.key = 1000000 then 1 + place
      else 4 + ((edge_group.key - 1000001) * 3 + place) % ${HOSTS - 3}::integer end on conflict do nothing`.execute(
    db,
  )
}

async function addNetworks(db: Rows, networks: number): Promise<void> {
  const missing = sql`generate_series(1, ${networks}::integer) n join org on org.name = 'tenant-' || n
    join vdc on vdc.org = org.id`
  await sql`insert into edge_gateway (id, org, vdc, name, external, edge_group, hosts, key, group_port, address)
    select ${earlierId}, org.id, vdc.id, 'default', external_network.id, edge_group.id,
      (select array_agg(member.host) from edge_group_host member where member.edge_group = edge_group.id), 2 * n,
      10 + case when n <= ${CARRIED}::integer then n - 1 else (n - ${CARRIED}::integer - 1) % ${GROUP_MAX}::integer end,
      host('100.64.0.16'::inet + n)
    from ${missing} join edge_group on edge_group.key = 1000000
        + case when n <= ${CARRIED}::integer then 0 else 1 + (n - ${CARRIED}::integer - 1) / ${GROUP_MAX}::integer end,
      external_network where external_network.kind = 'outbound'
      and not exists (select from edge_gateway made where made.org = org.id)`.execute(db)
  await sql`insert into network (id, org, vdc, name, kind, edge_gateway, base, prefix, gateway, dns, key, edge_port)
    select ${earlierId}, org.id, vdc.id, 'default', 'routed', edge_gateway.id, 173277184, 20, '10.84.0.1', '{100.64.0.1}', 2 * n + 1, 10
    from ${missing} join edge_gateway on edge_gateway.org = org.id
    where not exists (select from network made where made.org = org.id)`.execute(db)
  await sql`update network_zone set keys = greatest(keys, 2000000)`.execute(db)
}

async function addCards(db: Rows, networks: number, cards: number): Promise<void> {
  await sql`insert into vapp (org, vdc, name, owner) select org.id, vdc.id, 'app', 'proof'
    from org join vdc on vdc.org = org.id
    where org.name like 'tenant-%' and not exists (select from vapp where vapp.org = org.id)`.execute(
    db,
  )
  await sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib, host, incarnation, ever_started, status)
    select org.id, vapp.id, 'vm-' || card, ${DIGEST}, 1, 64, 64, host.id, 1, true, 'POWERED_ON'
    from generate_series(1, ${networks}::integer) n join org on org.name = 'tenant-' || n join vapp on vapp.org = org.id
      cross join generate_series(1, ${cards}::integer) card
      join host on host.name = 'host-' || (4 + (n * ${cards}::integer + card) % ${HOSTS - 3}::integer)
    where not exists (select from vm made where made.org = org.id)`.execute(db)
  await sql`insert into nic (id, org, vm, index, network, mode, "offset", address, mac, key)
    select ${earlierId}, vm.org, vm.id, 0, network.id, 'POOL', 10 + card, '10.84.0.' || (10 + card), '52:54:00:00:00:' || lpad(to_hex(card), 2, '0'),
      10 + card
    from vm join network on network.org = vm.org, lateral (select substr(vm.name, 4)::integer as card) place
    where vm.name like 'vm-%' and vm.org in (select id from org where name like 'tenant-%')
      and not exists (select from nic where nic.vm = vm.id)`.execute(db)
}
