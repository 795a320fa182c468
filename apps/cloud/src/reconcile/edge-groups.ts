import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'

/** With three, two that are left still see each other, and know that neither of them is cut off. */
const HOSTS = 3

interface EdgeGroupRow {
  readonly id: string
  readonly zone: string
}

/** The members that still belong to the zone. A host whose switch fails for a while stays: another member carries its gateways. */
const members = sql`select member.host from edge_group_host member join host on host.id = member.host
  where member.edge_group = edge_group.id and host.state = 'joined' and host.zone = edge_group.zone`

/** The ready hosts that could be added, those in the fewest groups first. */
const candidates = sql`select host.id from host
  where host.zone = edge_group.zone and host.state = 'joined' and host.overlay = 'ready'
    and exists (select from edge_gateway join external_network on external_network.id = edge_gateway.external
      where edge_gateway.edge_group = edge_group.id and edge_gateway.deleted_at is null
        and external_network.uplink = any(host.uplinks))
    and not exists (select from edge_group_host member where member.edge_group = edge_group.id and member.host = host.id)
  order by (select count(*) from edge_group_host carried where carried.host = host.id), host.id
  limit greatest(0, ${sql.lit(HOSTS)} - (select count(*) from (${members}) member))`

/**
 * Groups with a host that left, if another one is there, and groups that a ready host can be added to. While the cloud recovers from a
 * restore, its hosts may not be what the rows say.
 */
const lacking = sql`select edge_group.id, edge_group.zone from edge_group
  where (select not recovering from cloud) and (exists (${candidates})
    or (exists (${members}) and exists (select from edge_group_host member
      where member.edge_group = edge_group.id and member.host not in (${members}))))`

/**
 * Replaces hosts that were revoked or declared lost in the groups that carry edge gateways, and adds hosts to groups that have fewer
 * than three. The order of those that stay is kept: an edge gateway that changes its host breaks connections. Returns the number of
 * changed groups.
 */
export async function reconcileEdgeGroups(db: Kysely<CloudTables>): Promise<number> {
  const { rows } = await sql<EdgeGroupRow>`${lacking} order by edge_group.id`.execute(db)
  let repaired = 0
  for (const group of rows) {
    if (await db.transaction().execute((tx) => repair(tx, group))) repaired += 1
  }
  return repaired
}

/** Under the lock of the zone, which choosing a group for another edge gateway needs too. */
async function repair(tx: Tx, { id, zone }: EdgeGroupRow): Promise<boolean> {
  await sql`select from network_zone where id = ${zone}::uuid for no key update`.execute(tx)
  const still = await sql`${lacking} and edge_group.id = ${id}::uuid`.execute(tx)
  if (still.rows.length === 0) return false
  await sql`insert into edge_group_host (edge_group, host)
    select edge_group.id, candidate.id from edge_group, lateral (${candidates}) candidate
    where edge_group.id = ${id}::uuid`.execute(tx)
  // Without any other host the last ones stay: a router without a host would be on all of them.
  await sql`delete from edge_group_host gone using edge_group
    where edge_group.id = ${id}::uuid and gone.edge_group = edge_group.id
      and exists (${members}) and gone.host not in (${members})`.execute(tx)
  const { rows } = await sql<{ hosts: readonly string[]; gateways: number }>`
    with current as (select array_agg(host) as hosts from edge_group_host where edge_group = ${id}::uuid),
    changed as (update edge_gateway set hosts =
        array(select kept.host from unnest(edge_gateway.hosts) with ordinality kept (host, place)
          where kept.host = any(current.hosts) order by place)
        -- Not the same host first for all.
        || array(select added.host from unnest(current.hosts) added (host)
          where added.host <> all(edge_gateway.hosts) order by md5(added.host::text || edge_gateway.id::text))
      from current where edge_gateway.edge_group = ${id}::uuid and edge_gateway.deleted_at is null returning edge_gateway.id)
    select hosts, (select count(*)::integer from changed) as gateways from current`.execute(tx)
  const [{ hosts, gateways } = { hosts: [], gateways: 0 }] = rows
  const details = { group: id, hosts, gateways }
  await emitEvent(tx, { kind: 'edge-group.hosts', details })
  return true
}
