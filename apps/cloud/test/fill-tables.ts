// A row in each table of organisations, for tests that try all of them.
import { randomBytes } from 'node:crypto'

import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { instantiate, type TenantsApi } from './tenants-api.ts'

/** A row in each table that the API setup does not fill. If your table is empty: add a row here. */
export async function fillTables(
  api: TenantsApi,
  { org, token, ids, vapp }: TenantsApi['eng'],
): Promise<void> {
  const { db, host } = api.cloud
  const { vdc, template = '' } = ids
  await api.ask('POST', `/api/vdc/${vdc}/action/instantiateVAppTemplate`, {
    token,
    body: instantiate('second', template.slice(-36), false),
    headers: { 'idempotency-key': 'again' },
  })
  const body = '<MetadataValue><Value>red</Value></MetadataValue>'
  await api.ask('PUT', `/api/vApp/${vapp}/metadata/colour`, { token, body })
  await sql`insert into screen_ticket (ticket_hash, org, vm, boot, host, account_org, account)
    select ${randomBytes(32)}, vm.org, vm.id, 'boot', ${host}, account.org, account.id
    from vm join account using (org) where org = ${org} limit 1`.execute(db)
  await sql`insert into guest_seed (org, vm, sealed) select org, id, ${randomBytes(32)} from vm
    where org = ${org} limit 1`.execute(db)
  await fillNetworks(db, org, vdc ?? '')
  await fillSecurityGroups(db, org)
  await fillDeliveries(db, org)
  await sql`insert into recovery_code (org, account, hash) select org, account, ${randomBytes(32)}
    from second_factor where org = ${org}`.execute(db)
  await sql`insert into second_factor (org, account, kind, name, credential, public_key, confirmed)
    select org, account, 'passkey', 'laptop', ${randomBytes(16)}, ${randomBytes(44)}, true
    from second_factor where org = ${org}`.execute(db)
  await sql`insert into account (org, name, role, provider, subject)
    select org, 'of a directory', 'user', id, 'subject' from identity_provider where org = ${org}`.execute(
    db,
  )
  await sql`insert into group_role (org, provider, name, role)
    select org, id, 'developers', 'author' from identity_provider where org = ${org}`.execute(db)
  await fillShares(db, org)
}

async function fillShares(db: Kysely<CloudTables>, org: OrgId): Promise<void> {
  await sql`insert into account_group (org, account, provider, name)
    select org, account.id, provider, group_role.name from group_role join account using (org, provider)
    where org = ${org}`.execute(db)
  await sql`insert into share (org, vapp, account, level) select vapp.org, vapp.id, account.id, 'Change'
    from vapp join account using (org) where org = ${org} limit 1`.execute(db)
  await sql`insert into share (org, catalog, provider, group_name, level)
    select catalog.org, catalog.id, provider, group_role.name, 'ReadOnly'
    from catalog join group_role using (org) where org = ${org} limit 1`.execute(db)
}

async function fillDeliveries(db: Kysely<CloudTables>, org: OrgId): Promise<void> {
  await sql`insert into webhook_delivery (org, webhook, first_tx, first_seq, last_tx, last_seq, events, milliseconds, taken, answer)
    select org, id, tx, seq, tx, seq, 1, 1, true, 'answered 204' from webhook where org = ${org}`.execute(
    db,
  )
}

async function fillSecurityGroups(db: Kysely<CloudTables>, org: OrgId): Promise<void> {
  await sql`insert into security_group_label (org, security_group, key, value)
    select org, id, 'role', 'web' from security_group where org = ${org}`.execute(db)
  await sql`insert into security_group_rule (org, security_group, place, direction, protocol, peer)
    select org, id, 0, 'in', 'any', id from security_group where org = ${org}`.execute(db)
}

async function fillNetworks(db: Kysely<CloudTables>, org: OrgId, vdc: string): Promise<void> {
  await sql`with made as (insert into edge_group (zone, key) select zone, take_network_key(id) from vdc where id = ${vdc}
      returning id)
    insert into edge_gateway (org, vdc, name, external, edge_group, hosts, key, group_port, address)
    select ${org}, ${vdc}, 'default', (select id from external_network where kind = 'outbound'), made.id, '{}', 1, 10, '100.64.0.16' from made`.execute(
    db,
  )
  await sql`insert into network (org, vdc, name, kind, edge_gateway, edge_port, base, prefix, gateway, key)
    select org, vdc, 'blue', 'routed', id, 10, 3232238080, 24, '192.168.10.1', 1 from edge_gateway where org = ${org} and name = 'default'`.execute(
    db,
  )
  await sql`insert into network_range (org, network, low, high) select org, id, 10, 65000 from network where org = ${org}`.execute(
    db,
  )
  await sql`insert into released_address (org, network, "offset") select org, id, 9 from network where org = ${org}`.execute(
    db,
  )
  await sql`insert into nic (org, vm, index, network, mode, "offset", address, mac, key)
    select vm.org, vm.id, 0, network.id, 'POOL', 10, '192.168.10.10', '52:54:00:00:00:01', 10
    from network join vm using (org) where org = ${org} limit 1`.execute(db)
}
