// Rows of networks and security groups for tests that need no network server.
import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'

import type { CloudDatabase } from './cloud-database.ts'

/** A network of a zone that is open, but has no host that is ready: VMs have the network of their host. */
export async function addNetworkRow(
  db: CloudDatabase['db'],
  { org, vdc, name }: { readonly org: OrgId; readonly vdc: string; readonly name: string },
): Promise<string> {
  await sql`update network_zone set fence = 1, opened = 1, remote = 'ssl:192.0.2.1:6642'`.execute(
    db,
  )
  const { rows } = await sql<{ id: string }>`
    insert into network (org, vdc, name, kind, shared, base, prefix, gateway, key)
    values (${org}, ${vdc}, ${name}, 'isolated', true, 3232240640, 24, '192.168.20.1', take_network_key(${vdc})) returning id`.execute(
    db,
  )
  const id = rows[0]?.id ?? ''
  await sql`insert into network_range (org, network, low, high) values (${org}, ${id}, 20, 250)`.execute(
    db,
  )
  return id
}

/** A security group without labels, so that it has no VMs. */
export async function addSecurityGroupRow(
  db: CloudDatabase['db'],
  org: OrgId,
  name: string,
): Promise<string> {
  const { id } = await db
    .insertInto('security_group')
    .values({ org, name, limits_in: true, limits_out: false })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}
