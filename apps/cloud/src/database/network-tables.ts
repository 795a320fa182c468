import type { EdgeFirewall, EdgeRoute, HostId, NatRule, OrgId, VmId } from '@skerry/vm'
import type { ColumnType, Generated } from 'kysely'

import type { Big, MaybeTime, Time } from './column-types.ts'

/** A bigint that fits a number: an IPv4 address. */
type AddressNumber = ColumnType<string, number, number>

/** A JSON column: it is written as text. */
type Json<T> = ColumnType<T, string | undefined, string>

/** The tables of migrations/0007-networks.sql, 0009-edge-services.sql, 0010-security-groups.sql and 0014-ipv6.sql that cells read and write. */
export interface NetworkTables {
  network_zone: {
    id: Generated<string>
    name: string
    mtu: Generated<number>
    keys: Generated<number>
    holder: string | null
    lease_until: MaybeTime
    fence: Big
    remote: string | null
    opened: Big
  }
  edge_gateway: {
    org: OrgId
    id: Generated<string>
    vdc: string
    name: string
    external: string
    edge_group: string
    hosts: HostId[]
    key: number
    group_port: number
    address: string
    description: Generated<string>
    nat: Json<NatRule[]>
    firewall: Json<EdgeFirewall>
    routes: Json<EdgeRoute[]>
    version: Generated<number>
    next_rule: Generated<number>
    created_at: Time
    deleted_at: MaybeTime
  }
  network: {
    org: OrgId
    id: Generated<string>
    vdc: string
    name: string
    description: Generated<string>
    kind: 'isolated' | 'routed' | 'direct'
    edge_gateway: string | null
    external: string | null
    shared: Generated<boolean>
    base: ColumnType<string | null, number | null, number | null>
    prefix: number | null
    gateway: string | null
    ipv6_prefix: string | null
    dns: Generated<string[]>
    dns_suffix: string | null
    key: number
    edge_port: number | null
    next_port: Generated<number>
    created_at: Time
    deleted_at: MaybeTime
  }
  network_range: { org: OrgId; network: string; low: number; high: number }
  nic: {
    org: OrgId
    id: Generated<string>
    vm: VmId
    index: number
    network: string
    mode: 'POOL' | 'MANUAL' | 'DHCP' | 'NONE'
    offset: number | null
    address: string | null
    mac: string
    key: number
    connected: Generated<boolean>
  }
  security_group: {
    org: OrgId
    id: Generated<string>
    name: string
    description: Generated<string>
    limits_in: boolean
    limits_out: boolean
    version: Generated<number>
    created_at: Time
  }
  security_group_label: { org: OrgId; security_group: string; key: string; value: string }
  security_group_rule: {
    org: OrgId
    security_group: string
    place: number
    direction: 'in' | 'out'
    protocol: 'tcp' | 'udp' | 'icmp' | 'any'
    low: number | null
    high: number | null
    block: string | null
    peer: string | null
  }
  security_group_member: { org: OrgId; security_group: string; vm: VmId }
  released_address: { org: OrgId; network: string; offset: number; released_at: Time }
  network_change: {
    zone: string
    kind: 'network' | 'edge gateway' | 'edge group'
    unit: string
    version: Big
    since: Time
    attempts: Generated<number>
    fault: string | null
  }
  external_network: {
    id: Generated<string>
    zone: string
    name: string
    description: Generated<string>
    kind: 'outbound' | 'provider'
    uplink: string
    vlan: number | null
    gateway: string
    prefix: number
    dns: Generated<string[]>
    is_default: Generated<boolean>
    deleted_at: MaybeTime
  }
  external_range: { external: string; low: AddressNumber; high: AddressNumber }
  external_address: {
    external: string
    number: AddressNumber
    address: string
    org: OrgId
    edge_gateway: string
    purpose: 'gateway' | 'tenant'
    metered_since: Time
  }
}

/** The columns of a host that its networks need. */
export interface NetworkOfHost {
  zone: Generated<string>
  tunnel_address: string | null
  overlay: Generated<'none' | 'ready' | 'failing'>
  overlay_reason: string | null
  uplinks: Generated<string[]>
}

/** The columns of a task about a network or an edge gateway. */
export interface NetworkOfTask {
  network: string | null
  edge_gateway: string | null
  unit_version: string | null
}
