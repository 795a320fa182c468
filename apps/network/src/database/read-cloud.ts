// Reads what is projected: a whole zone, or some units of it. The caller reads in one snapshot.
import { sql, type Kysely, type RawBuilder } from 'kysely'

import type {
  ProjectedCloud,
  ProjectedEdgeGateway,
  ProjectedEdgeGroup,
  ProjectedExternalNetwork,
  ProjectedNetwork,
  ProjectedNic,
} from '../projection/projected-cloud.ts'
import { readMembers, readSecurityGroups } from './read-security-groups.ts'

/** Ids of the units to read. A network behind an edge gateway is read with it. */
export interface UnitScope {
  readonly gateways: readonly string[]
  readonly networks: readonly string[]
  readonly groups: readonly string[]
}

export interface ReadContext {
  readonly zone: string
  /** Networks of the operator; from the configuration. */
  readonly protected: readonly string[]
}

export async function readCloud<DB>(
  database: Kysely<DB>,
  context: ReadContext,
  scope?: UnitScope,
): Promise<ProjectedCloud> {
  const { zone } = context
  const among = (column: RawBuilder<unknown>, ids: readonly string[] | undefined) =>
    ids === undefined ? sql`true` : sql`${column} = any(${ids}::uuid[])`
  const networks = await readNetworks(
    database,
    zone,
    scope === undefined
      ? sql`true`
      : sql`(${among(sql`network.edge_gateway`, scope.gateways)} or
          (network.edge_gateway is null and ${among(sql`network.id`, scope.networks)}))`,
  )
  const orgs = [...new Set(networks.map(({ org }) => org))]
  return {
    mtu: await readMtu(database, zone),
    protected: context.protected,
    externals: await readExternals(database, zone),
    groups: await readGroups(database, zone, among(sql`edge_group.id`, scope?.groups)),
    gateways: await readGateways(database, zone, among(sql`edge_gateway.id`, scope?.gateways)),
    networks,
    nics: await readNics(
      database,
      zone,
      orgs,
      among(sql`nic.network`, scope === undefined ? undefined : networks.map(({ id }) => id)),
    ),
    securityGroups: await readSecurityGroups(database, orgs),
  }
}

type Condition = RawBuilder<unknown>

async function readMtu<DB>(database: Kysely<DB>, zone: string): Promise<number> {
  const { rows } = await sql<{ mtu: number }>`
    select mtu from network_zone where id = ${zone}::uuid`.execute(database)
  return rows[0]?.mtu ?? 0
}

async function readExternals<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<readonly ProjectedExternalNetwork[]> {
  const { rows } = await sql<ProjectedExternalNetwork>`
    select id, uplink, vlan, gateway, prefix from external_network where zone = ${zone}::uuid`.execute(
    database,
  )
  return rows
}

async function readGroups<DB>(
  database: Kysely<DB>,
  zone: string,
  only: Condition,
): Promise<readonly ProjectedEdgeGroup[]> {
  const { rows } = await sql<ProjectedEdgeGroup>`
    select edge_group.id, edge_group.key, coalesce((
      select jsonb_agg(jsonb_build_object('id', id, 'port', group_port, 'external', external) order by id)
      from edge_gateway where edge_gateway.edge_group = edge_group.id and deleted_at is null), '[]') as gateways
    from edge_group where zone = ${zone}::uuid and ${only}`.execute(database)
  return rows
}

async function readGateways<DB>(
  database: Kysely<DB>,
  zone: string,
  only: Condition,
): Promise<readonly ProjectedEdgeGateway[]> {
  const { rows } = await sql<ProjectedEdgeGateway>`
    select edge_gateway.org, edge_gateway.id, edge_gateway.external, edge_gateway.hosts::text[] as hosts, edge_gateway.key,
      edge_gateway.address, nat, firewall, routes, array(
        select external_address.address from external_address
        where external_address.org = edge_gateway.org and external_address.edge_gateway = edge_gateway.id
        order by number) as addresses
    from edge_gateway join vdc on vdc.org = edge_gateway.org and vdc.id = edge_gateway.vdc
    where vdc.zone = ${zone}::uuid and edge_gateway.deleted_at is null and ${only}`.execute(
    database,
  )
  return rows
}

interface NetworkRow extends Omit<ProjectedNetwork, 'range'> {
  readonly base: string | null
  readonly prefix: number | null
  readonly gateway: string | null
}

async function readNetworks<DB>(
  database: Kysely<DB>,
  zone: string,
  only: Condition,
): Promise<readonly ProjectedNetwork[]> {
  const { rows } = await sql<NetworkRow>`
    select network.org, network.id, network.kind, network.edge_gateway as "edgeGateway", network.external,
      network.base::text as base, network.prefix, network.gateway, network.ipv6_prefix as "ipv6Prefix",
      network.dns, network.dns_suffix as "dnsSuffix", network.key, network.edge_port as "edgePort"
    from network join vdc on vdc.org = network.org and vdc.id = network.vdc
    where vdc.zone = ${zone}::uuid and network.deleted_at is null and ${only}`.execute(database)
  return rows.map(({ base, prefix, gateway, ...network }) => {
    const isWhole = base !== null && prefix !== null && gateway !== null
    return { ...network, range: isWhole ? { base: Number(base), prefix, gateway } : null }
  })
}

async function readNics<DB>(
  database: Kysely<DB>,
  zone: string,
  orgs: readonly string[],
  only: Condition,
): Promise<readonly ProjectedNic[]> {
  const members = await readMembers(database, orgs)
  const { rows } = await sql<Omit<ProjectedNic, 'groups'> & { readonly vm: string }>`
    select nic.org, nic.id, nic.vm, nic.network, nic.mode, nic.address, nic.mac, nic.key, nic.connected, vm.host,
      array_remove(array[vm.computer_name, vm.name], null) as names
    from nic join vm on vm.org = nic.org and vm.id = nic.vm
      join network on network.org = nic.org and network.id = nic.network
      join vdc on vdc.org = network.org and vdc.id = network.vdc
    where vdc.zone = ${zone}::uuid and network.deleted_at is null and vm.deleted_at is null and ${only}`.execute(
    database,
  )
  return rows.map(({ vm, ...nic }) => ({ ...nic, groups: members.get(vm) ?? [] }))
}
