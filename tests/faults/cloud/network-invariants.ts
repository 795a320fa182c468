// Invariants of networks across hosts once a cloud is idle: rows, OVN's databases and the switches of hosts agree.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { mapOf, Ovsdb, setOf, uuidOf, type OvsdbRow } from '@skerry/ovsdb'
import { ovnFiles } from '@skerry/site'
import { sql } from 'kysely'

import type { Place } from './place.ts'

interface NicRow {
  readonly id: string
  readonly host: string
  readonly hostName: string
  readonly isRunning: boolean
}

export async function networkInvariants(place: Place): Promise<string[]> {
  const { db, cloud, hosts } = place
  if (!cloud.network) return []
  const nics =
    await sql<NicRow>`select nic.id, vm.host, host.name as "hostName", vm.status = 'POWERED_ON' as "isRunning"
    from nic join vm on vm.org = nic.org and vm.id = nic.vm join host on host.id = vm.host
    where vm.deleted_at is null and nic.connected`.execute(db)
  const zone = await sql<{
    opened: string
  }>`select opened::text as opened from network_zone`.execute(db)
  // Its log is beside its configuration.
  const config = readFileSync(join(dirname(cloud.network.log), 'network.json'), 'utf8')
  const { data } = JSON.parse(config) as { data: string }
  const files = ovnFiles(join(data, zone.rows[0]?.opened ?? ''))
  try {
    const found = await Promise.all([
      northbound(place, files.northboundSocket, nics.rows),
      southbound(files.southboundSocket, nics.rows),
      ...hosts.map((host) =>
        plugged(
          host,
          nics.rows.filter(({ hostName }) => hostName === host.name),
        ),
      ),
    ])
    return found.flat()
  } catch (error) {
    return [`the databases of OVN cannot be read: ${String(error)}`]
  }
}

/** Switches are networks and groups, routers are edge gateways, ports without a type are cards, each with the host of its VM. */
async function northbound(place: Place, path: string, nics: readonly NicRow[]): Promise<string[]> {
  await using database = await Ovsdb.open({ path })
  const read = (table: string, columns: readonly string[]) =>
    database.select('OVN_Northbound', table, columns)
  const { rows } = await sql<{ kind: string; id: string }>`
    select 'switch' as kind, id from network where deleted_at is null
    union all select 'router', id from edge_gateway where deleted_at is null
    union all select 'switch', id from edge_group where exists (select from edge_gateway
      where edge_gateway.edge_group = edge_group.id and edge_gateway.deleted_at is null)`.execute(
    place.db,
  )
  const of = (kind: string) => rows.filter((row) => row.kind === kind).map(({ id }) => id)
  const names = (found: readonly OvsdbRow[]) => found.map(({ name }) => String(name))
  const ports = await read('Logical_Switch_Port', ['name', 'type', 'options'])
  const cards = ports
    .filter(({ type }) => type === '')
    .map(
      ({ name, options }) =>
        `${String(name)} on ${String(mapOf(options).get('requested-chassis'))}`,
    )
  return [
    ...differences('switch', of('switch'), names(await read('Logical_Switch', ['name']))),
    ...differences('router', of('router'), names(await read('Logical_Router', ['name']))),
    ...differences(
      'port',
      nics.map(({ id, host }) => `${id} on ${host}`),
      cards,
    ),
  ]
}

/** The host of each running VM has taken its ports. */
async function southbound(path: string, nics: readonly NicRow[]): Promise<string[]> {
  await using database = await Ovsdb.open({ path })
  const chassis = await database.select('OVN_Southbound', 'Chassis', ['_uuid', 'name'])
  const nameOf = new Map(chassis.map((row) => [uuidOf(row['_uuid']), String(row['name'])]))
  const columns = ['logical_port', 'chassis', 'up']
  const bindings = await database.select('OVN_Southbound', 'Port_Binding', columns)
  const places = new Map(
    bindings.map((row) => {
      const [at] = setOf(row['chassis'])
      const isUp = setOf(row['up'])[0] === true
      return [String(row['logical_port']), isUp && at ? nameOf.get(uuidOf(at)) : undefined]
    }),
  )
  return nics
    .filter(({ id, host, isRunning }) => isRunning && places.get(id) !== host)
    .map(({ id, host }) => `card ${id} is on host ${host}, for OVN on ${places.get(id) ?? 'none'}`)
}

/** Each card of a running VM is a port of its host's switch; no card of another VM is one that works. */
async function plugged(host: Place['hosts'][number], nics: readonly NicRow[]): Promise<string[]> {
  const { code, stdout, stderr } = await host.run([
    'ovs-vsctl',
    '--format=json',
    '--columns=external_ids,ofport',
    'list',
    'Interface',
  ])
  if (code !== 0) return [`${host.name}: ${stderr.trim()}`]
  const { data } = JSON.parse(stdout) as { data: [['map', [string, string][]], unknown][] }
  const working = data
    .filter(([, port]) => typeof port === 'number' && port > 0)
    .flatMap(([[, ids]]) => new Map(ids).get('iface-id') ?? [])
  const running = nics.filter(({ isRunning }) => isRunning).map(({ id }) => id)
  return differences(`port of ${host.name}`, running, working)
}

function differences(what: string, wanted: readonly string[], found: readonly string[]): string[] {
  const [has, wants] = [new Set(found), new Set(wanted)]
  return [
    ...wanted.filter((each) => !has.has(each)).map((each) => `${what} ${each} is missing`),
    ...found.filter((each) => !wants.has(each)).map((each) => `${what} ${each} is left over`),
  ]
}
