// External networks and edge gateways for tests of routes: rows as a cell makes them.
import type { HostId, OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'

type Db = Kysely<CloudTables>

/** An external network with the addresses 203.0.113.10 to 203.0.113.250, which hosts reach by the uplink lan. */
export async function addExternalRow(db: Db, name: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    insert into external_network (zone, name, kind, uplink, gateway, prefix, dns)
    select id, ${name}, 'provider', 'lan', '203.0.113.1', 24, '{203.0.113.2}' from network_zone where name = 'default'
    returning id`.execute(db)
  const id = rows[0]?.id ?? ''
  await sql`insert into external_range (external, low, high) values (${id}, 3405803786, 3405804026)`.execute(
    db,
  )
  return id
}

/** An edge gateway with an address that its organisation took. Its host is ready only while it is made. */
export async function addEdgeGatewayRow(
  db: Db,
  of: {
    readonly org: OrgId
    readonly vdc: string
    readonly name: string
    readonly external: string
    readonly host: HostId | string
  },
): Promise<{ readonly id: string; readonly address: string }> {
  const { org, vdc, name, external, host } = of
  return db.transaction().execute(async (tx) => {
    const before = await sql<{ overlay: string }>`
      select overlay from host where id = ${host} for update`.execute(tx)
    await sql`update host set overlay = 'ready', uplinks = '{out,lan}' where id = ${host}`.execute(
      tx,
    )
    const { rows } = await sql<{ id: string }>`
      select make_edge_gateway(${org}, ${vdc}, ${name}, '', ${external}) as id`.execute(tx)
    const id = rows[0]?.id ?? ''
    await sql`update host set overlay = ${before.rows[0]?.overlay} where id = ${host}`.execute(tx)
    const taken = await sql<{ address: string }>`
      select address from take_external_address(${id}, null)`.execute(tx)
    return { id, address: taken.rows[0]?.address ?? '' }
  })
}

/** An external network of its own and an edge gateway to it, by the names of path parameters. */
export async function addEdge(
  db: Db,
  of: { readonly org: OrgId; readonly vdc: string; readonly name: string; readonly host: HostId },
): Promise<Readonly<Record<'externalNetwork' | 'edgeGateway' | 'address', string>>> {
  const external = await addExternalRow(db, `office of ${of.name}`)
  const { id, address } = await addEdgeGatewayRow(db, { ...of, name: 'edge', external })
  return { externalNetwork: external, edgeGateway: id, address }
}

/** A new edge gateway or external network for a route about one. */
export async function edgeIdsFor(
  {
    cloud: { db, host },
    eng: { org, ids },
  }: {
    readonly cloud: { readonly db: Db; readonly host: HostId }
    readonly eng: { readonly org: OrgId; readonly ids: Readonly<Record<string, string>> }
  },
  route: { readonly path: string; readonly name: string },
  name: string,
): Promise<Readonly<Record<string, string>>> {
  const { vdc = '', externalNetwork: external = '', edgeGateway = '' } = ids
  // Organisations read the external network of their edge gateway.
  if (route.path.includes(':externalNetwork') && route.name !== 'readExternalNetwork') {
    return { externalNetwork: await addExternalRow(db, name) }
  }
  const isAbout = route.path.includes(':edgeGateway')
  if (isAbout || route.name === 'addEdgeGateway') await deleteOtherGateways(db, org, edgeGateway)
  if (!isAbout) return {}
  const made = await addEdgeGatewayRow(db, { org, vdc, name, external, host })
  if (route.name === 'deleteEdgeGateway') {
    await sql`delete from external_address where edge_gateway = ${made.id} and purpose = 'tenant'`.execute(
      db,
    )
  }
  return { edgeGateway: made.id, address: made.address }
}

/** Deletes the edge gateways of an organisation but this one: it can have a few only. */
async function deleteOtherGateways(db: Db, org: OrgId, kept: string): Promise<void> {
  await sql`delete from external_address where org = ${org} and edge_gateway <> ${kept}`.execute(db)
  await sql`update edge_gateway set deleted_at = clock_timestamp()
    where org = ${org} and id <> ${kept} and deleted_at is null
      and not exists (select from network where network.edge_gateway = edge_gateway.id)`.execute(db)
}
