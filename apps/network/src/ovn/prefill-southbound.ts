// What only hosts would write into the southbound database, as PostgreSQL knows it. Without these rows each host would, for a moment after
// the opening, remove its tunnels to hosts that have not connected yet.
import {
  map,
  namedUuid,
  set,
  setOf,
  uuid,
  uuidOf,
  type Ovsdb,
  type OvsdbOperation,
} from '@skerry/ovsdb'

const SOUTHBOUND = 'OVN_Southbound'
const OPERATIONS_MAX = 2_000

export interface KnownHost {
  readonly id: string
  /** Its end of tunnels. */
  readonly tunnelAddress: string
}

/** A card of a VM that is on. */
export interface RunningNic {
  readonly id: string
  readonly host: string
}

/** The hosts with their ends of tunnels. Those that the database knows are left as they are. */
export async function prefillHosts(database: Ovsdb, hosts: readonly KnownHost[]): Promise<void> {
  const known = await chassisIds(database)
  const missing = hosts.filter(({ id }) => !known.has(id))
  await inParts(
    database,
    missing.flatMap((host, at) => chassisRows(host, `host${at}`)),
  )
}

/** The places of ports, once northd has made their rows. A port that a host has claimed is left as it is. */
export async function prefillPorts(database: Ovsdb, nics: readonly RunningNic[]): Promise<void> {
  const chassis = await chassisIds(database)
  const place = new Map(nics.map(({ id, host }) => [id, chassis.get(host)]))
  const columns = ['_uuid', 'logical_port', 'chassis']
  const ports = await database.select(SOUTHBOUND, 'Port_Binding', columns)
  await inParts(
    database,
    ports.flatMap((row): OvsdbOperation[] => {
      const at = place.get(String(row['logical_port']))
      if (at === undefined || setOf(row['chassis']).length > 0) return []
      const where = [['_uuid', '==', uuid(uuidOf(row['_uuid']))]] as const
      const bound = { chassis: uuid(at), up: true }
      return [{ op: 'update', table: 'Port_Binding', where, row: bound }]
    }),
  )
}

/** The rows of hosts, by the ids of the hosts. */
async function chassisIds(database: Ovsdb): Promise<ReadonlyMap<string, string>> {
  const rows = await database.select(SOUTHBOUND, 'Chassis', ['_uuid', 'name'])
  return new Map(rows.map((row) => [String(row['name']), uuidOf(row['_uuid'])]))
}

const chassisRows = ({ id, tunnelAddress }: KnownHost, name: string): readonly OvsdbOperation[] => [
  {
    op: 'insert',
    table: 'Encap',
    'uuid-name': name,
    row: { type: 'geneve', ip: tunnelAddress, chassis_name: id, options: map({ csum: 'true' }) },
  },
  {
    op: 'insert',
    table: 'Chassis',
    row: { name: id, hostname: id, encaps: set([namedUuid(name)]) },
  },
]

/** An even number of operations in each part: the two rows of a host belong together. */
async function inParts(database: Ovsdb, operations: readonly OvsdbOperation[]): Promise<void> {
  for (let from = 0; from < operations.length; from += OPERATIONS_MAX) {
    await database.transact(SOUTHBOUND, operations.slice(from, from + OPERATIONS_MAX))
  }
}
