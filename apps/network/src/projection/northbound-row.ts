// Rows of OVN's northbound database as the projection writes them.
import { map, set, uuid, type OvsdbAtom, type OvsdbRow, type OvsdbValue } from '@skerry/ovsdb'

/** The columns that the projection writes. OVN or an administrator may write others; these are not compared. */
export const northboundColumns = {
  DHCP_Options: ['cidr', 'options'],
  DNS: ['records'],
  Load_Balancer: ['name', 'protocol', 'vips'],
  ACL: ['direction', 'priority', 'match', 'action'],
  NAT: ['type', 'external_ip', 'logical_ip'],
  Logical_Router_Static_Route: ['ip_prefix', 'nexthop'],
  Logical_Router_Policy: ['priority', 'match', 'action'],
  Gateway_Chassis: ['name', 'chassis_name', 'priority'],
  Logical_Router_Port: ['name', 'mac', 'networks', 'gateway_chassis', 'ipv6_ra_configs', 'options'],
  Logical_Switch_Port: [
    'name',
    'type',
    'addresses',
    'port_security',
    'dhcpv4_options',
    'tag',
    'options',
  ],
  Logical_Switch: ['name', 'ports', 'dns_records', 'load_balancer', 'other_config'],
  Logical_Router: ['name', 'ports', 'nat', 'static_routes', 'policies', 'load_balancer', 'options'],
  Port_Group: ['name', 'ports', 'acls'],
} as const satisfies Readonly<Record<string, readonly string[]>>

export type NorthboundTable = keyof typeof northboundColumns
export const northboundTables = Object.keys(northboundColumns) as readonly NorthboundTable[]

type Columns<Table extends NorthboundTable> = Readonly<
  Record<(typeof northboundColumns)[Table][number], OvsdbValue>
>

export interface NorthboundRow {
  readonly table: NorthboundTable
  readonly id: string
  readonly columns: OvsdbRow
}

/** The keys of `external_ids` by which the projection knows its own rows. Rows without them belong to someone else. */
export const mark = { ours: 'skerry', unit: 'skerry-unit' } as const

/** Collects the rows of one unit. */
export class UnitRows {
  readonly #unit: string
  readonly #rows: NorthboundRow[] = []

  constructor(unit: string) {
    this.#unit = unit
  }

  /** Adds a row with all columns of its table, and returns the reference to it. */
  add<Table extends NorthboundTable>(table: Table, id: string, columns: Columns<Table>): OvsdbAtom {
    const marks = map({ [mark.ours]: '1', [mark.unit]: this.#unit })
    this.#rows.push({ table, id, columns: { ...columns, external_ids: marks } })
    return uuid(id)
  }

  list(): readonly NorthboundRow[] {
    return this.#rows
  }
}

export const none: OvsdbValue = set([])

/** Every port has the key that PostgreSQL stores: a southbound database that is made again uses the same keys in tunnels. */
export const portKey = (key: number): Readonly<Record<string, string>> => ({
  'requested-tnl-key': String(key),
})

/** The key of the one port of its kind on a switch or router. */
export const ONLY_PORT = 1
