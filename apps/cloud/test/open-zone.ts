// A zone whose projection is open, with a host that is ready: what a network server and Open vSwitch make of a site.
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'

/** Opens the only zone as this server. Returns the zone and the fencing token. */
export async function openZone(
  db: Kysely<CloudTables>,
  host: HostId,
  server = 'network-1',
): Promise<{ readonly zone: string; readonly fence: string }> {
  await db
    .updateTable('host')
    .set({ overlay: 'ready', uplinks: ['out'] })
    .where('id', '=', host)
    .execute()
  const { id: zone } = await db
    .selectFrom('network_zone')
    .select('id')
    .where('name', '=', 'default')
    .executeTakeFirstOrThrow()
  const { rows } = await sql<{
    fence: string
  }>`select hold_zone(${zone}, ${server}, 60) as fence`.execute(db)
  const fence = rows[0]?.fence ?? ''
  await sql`select open_zone(${zone}, ${fence}, 'ssl:192.0.2.1:6642')`.execute(db)
  return { zone, fence }
}

/** Ends all changes, as a network server does that projects everything. Returns how many there were. */
export async function projectAll(
  db: Kysely<CloudTables>,
  { zone, fence }: { readonly zone: string; readonly fence: string },
): Promise<number> {
  const changes = await db.selectFrom('network_change').selectAll().execute()
  for (const { kind, unit, version } of changes) {
    await sql`select end_network_change(${zone}, ${fence}, ${kind}, ${unit}, ${version})`.execute(
      db,
    )
  }
  return changes.length
}

/** Hosts take cards of networks while a route needs it; otherwise VMs have the card of their host. */
export async function makeHostsReady(
  db: Kysely<CloudTables>,
  { name }: { readonly name: string },
): Promise<void> {
  const overlay = ['changeConnections', 'addEdgeGateway'].includes(name) ? 'ready' : 'none'
  await db.updateTable('host').set({ overlay }).execute()
}
