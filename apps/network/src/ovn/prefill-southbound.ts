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
/** Both have a row for each host. Other rows of a host go with these. */
const HOST_TABLES = ['Chassis', 'Chassis_Private'] as const

export interface KnownHost {
  readonly id: string
  readonly name: string
  /** Its end of tunnels. */
  readonly tunnelAddress: string
}

/** A port of a card of a VM that is on, or of an edge gateway to the outside, and where it is. */
export interface PlacedPort {
  readonly name: string
  readonly host: string
}

/**
 * The hosts with their ends of tunnels, the most recently seen first. Those that the database knows keep their ends. The database
 * has each address once: of hosts with the same one, the first is written. Returns the others.
 *
 * A host may not change its host name there, and nothing that it writes is accepted while it would: the host name is the id, here and
 * in the host's own configuration.
 */
export async function prefillHosts(
  database: Ovsdb,
  hosts: readonly KnownHost[],
): Promise<readonly KnownHost[]> {
  const known = await chassisRows(database)
  const encaps = await database.select(SOUTHBOUND, 'Encap', ['ip'])
  const taken = new Set(encaps.map(({ ip }) => String(ip)))
  const operations: OvsdbOperation[] = []
  const renames: OvsdbOperation[] = []
  const others: KnownHost[] = []
  for (const [at, host] of hosts.entries()) {
    const row = known.get(host.id)
    if (row?.hostname === host.id) continue
    if (row) renames.push(renamed(row.id, host.id))
    else if (taken.has(host.tunnelAddress)) others.push(host)
    else operations.push(...newHost(host, `host${at}`))
    taken.add(host.tunnelAddress)
  }
  await inParts(database, renames)
  await inParts(database, operations)
  return others
}

/** Deletes the rows of hosts that do not belong to the zone any more. `joined` is asked after the rows are read. Returns their ids. */
export async function removeStrangers(
  database: Ovsdb,
  joined: () => Promise<ReadonlySet<string>>,
): Promise<readonly string[]> {
  const rows = await Promise.all(
    HOST_TABLES.map(async (table) => {
      const found = await database.select(SOUTHBOUND, table, ['name'])
      return found.map(({ name }) => ({ table, name: String(name) }))
    }),
  )
  const hosts = await joined()
  const strangers = rows.flat().filter(({ name }) => !hosts.has(name))
  const operations = strangers.map(({ table, name }): OvsdbOperation => {
    return { op: 'delete', table, where: [['name', '==', name]] }
  })
  await inParts(database, operations)
  return [...new Set(strangers.map(({ name }) => name))]
}

/** The places of ports, once northd has made their rows. A port that a host has claimed is left as it is. */
export async function prefillPorts(database: Ovsdb, placed: readonly PlacedPort[]): Promise<void> {
  const hosts = await chassisRows(database)
  const place = new Map(placed.map(({ name, host }) => [name, hosts.get(host)?.id]))
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
async function chassisRows(
  database: Ovsdb,
): Promise<ReadonlyMap<string, { readonly id: string; readonly hostname: string }>> {
  const rows = await database.select(SOUTHBOUND, 'Chassis', ['_uuid', 'name', 'hostname'])
  return new Map(
    rows.map((row) => [
      String(row['name']),
      { id: uuidOf(row['_uuid']), hostname: String(row['hostname']) },
    ]),
  )
}

const renamed = (row: string, hostname: string): OvsdbOperation => ({
  op: 'update',
  table: 'Chassis',
  where: [['_uuid', '==', uuid(row)]],
  row: { hostname },
})

const newHost = ({ id, tunnelAddress }: KnownHost, name: string): readonly OvsdbOperation[] => [
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
