// A cloud database with a network server's login, certificates and configuration; and the server as a process of its own.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freePorts, startIssuer, until, type Postgres } from '@skerry/lab'
import { Ovsdb, type OvsdbRow } from '@skerry/ovsdb'
import { urlFor } from '@skerry/postgres'
import { ovnFiles } from '@skerry/site'
import { sql } from 'kysely'

import { openCloudDatabase, type CloudDatabase } from '../../apps/cloud/test/cloud-database.ts'

const PROGRAM = join(import.meta.dirname, '../../apps/network/src/main.ts')
const WAIT_MS = 60_000

export interface NetworkSite extends AsyncDisposable {
  readonly cloud: CloudDatabase
  readonly vdc: string
  /** Writes the configuration of another server, and returns its file, its data directory and its port. */
  server(name: string): Promise<NetworkServer>
  zone(): Promise<ZoneState>
  /** A card on the default network, of a VM that is on. */
  addNic(place: number): Promise<string>
  /** Deletes the VMs of these cards. */
  removeNics(): Promise<void>
  /** Waits until the network server has projected every change. */
  untilProjected(): Promise<void>
}

export interface ZoneState {
  readonly id: string
  readonly holder: string | null
  readonly fence: string
  readonly opened: string
  readonly remote: string | null
}

export interface NetworkServer {
  readonly name: string
  readonly port: number
  readonly data: string
  /** The URL of its database login. */
  readonly database: string
  readonly tls: { readonly key: string; readonly certificate: string; readonly ca: string }
  /** Connects to the southbound database as hosts do, with a certificate that it accepts. */
  connect(): Promise<Ovsdb>
  start(): ServerRun
}

export interface ServerRun {
  readonly child: ChildProcess
  readonly log: () => string
  /** Ends it with the signal, and waits for its end. */
  end(signal: NodeJS.Signals): Promise<void>
}

export async function openNetworkSite(postgres: Postgres): Promise<NetworkSite> {
  await using opened = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'network-'))
  // A tool that a killed server had just started may still write there.
  opened.defer(() => rm(dir, { recursive: true, force: true, maxRetries: 10 }))
  const cloud = opened.use(await openCloudDatabase(postgres))
  const issuer = opened.use(await startIssuer('network'))
  const { db } = cloud
  const vdc = await db.selectFrom('vdc').select(['id', 'org']).executeTakeFirstOrThrow()
  await db
    .updateTable('host')
    .set({ overlay: 'ready', uplinks: ['out'], tunnel_address: '192.0.2.7' })
    .execute()
  const login = `network_${new URL(cloud.url).pathname.slice(1)}`
  await cloud.asOwner(async (owner) => {
    await sql`create role ${sql.id(login)} login password 'secret' in role skerry_network`.execute(
      owner,
    )
    const name = sql.id(new URL(cloud.url).pathname.slice(1))
    await sql`grant connect on database ${name} to ${sql.id(login)}`.execute(owner)
  })
  opened.defer(() =>
    cloud.asOwner(async (owner) => {
      await sql`drop owned by ${sql.id(login)}`.execute(owner)
      await sql`drop role ${sql.id(login)}`.execute(owner)
    }),
  )
  const runs: ServerRun[] = []
  opened.defer(async () => {
    for (const run of runs) await run.end('SIGKILL')
  })
  const zone = () =>
    db.selectFrom('network_zone').selectAll().executeTakeFirstOrThrow() as Promise<ZoneState>
  const all = opened.move()
  return {
    cloud,
    vdc: vdc.id,
    zone,
    async server(name) {
      const port = await freePorts(2)
      const at = (file: string) => join(dir, name, file)
      await mkdir(join(dir, name))
      const { key, cert } = await issuer.issue()
      const files = { key, certificate: cert, ca: issuer.cert }
      for (const [file, text] of Object.entries(files)) await writeFile(at(file), text)
      const config = {
        name,
        listen: { address: '127.0.0.1', port },
        database: urlFor(cloud.url, login, 'secret'),
        data: at('data'),
        tls: { key: at('key'), certificate: at('certificate'), ca: at('ca') },
        health: { address: '127.0.0.1', port: port + 1 },
      }
      await writeFile(at('network.json'), JSON.stringify(config))
      return {
        name,
        port,
        data: config.data,
        database: config.database,
        tls: config.tls,
        connect: () => Ovsdb.open({ host: '127.0.0.1', port, key, cert, ca: issuer.cert }),
        start() {
          const run = runServer(at('network.json'))
          runs.push(run)
          return run
        },
      }
    },
    async addNic(place) {
      const { vms } = await cloud.addVms(1, 'POWERED_ON')
      const { rows } = await cloud.as(cloud.principal, (tx) =>
        sql<{ id: string }>`select provide_default_network(${vdc.id}) as id`.execute(tx),
      )
      const nic = await db
        .insertInto('nic')
        .values({
          org: vdc.org,
          vm: vms[0] ?? '',
          index: 0,
          network: rows[0]?.id ?? '',
          mode: 'POOL',
          offset: 10 + place,
          address: `10.84.0.${10 + place}`,
          mac: `52:54:00:00:00:${place.toString(16).padStart(2, '0')}`,
          key: 10 + place,
        } as never)
        .returning('id')
        .executeTakeFirstOrThrow()
      return nic.id
    },
    async removeNics() {
      await db
        .updateTable('vm')
        .set({ deleted_at: sql<Date>`clock_timestamp()` })
        .where('org', '=', vdc.org)
        .execute()
    },
    async untilProjected() {
      await until(
        'every change is projected',
        async () => {
          const changes = await db.selectFrom('network_change').select('unit').execute()
          return changes.length === 0
        },
        WAIT_MS,
      )
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

function runServer(config: string): ServerRun {
  const child = spawn(process.execPath, [PROGRAM, '--config', config], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const ended = once(child, 'exit')
  return {
    child,
    log: () => said,
    async end(signal) {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      await ended
    },
  }
}

/** Waits until hosts can find a projection with another token than this. */
export async function untilOpened(site: NetworkSite, before = '0'): Promise<ZoneState> {
  await until('the zone is open', async () => (await site.zone()).opened !== before, WAIT_MS)
  return site.zone()
}

/** Rows of one of OVN's databases, by its Unix socket. Undefined if it does not run. */
export async function readOvn(
  { data }: Pick<NetworkServer, 'data'>,
  token: string,
  which: 'northbound' | 'southbound',
  table: string,
  columns: readonly string[],
): Promise<readonly OvsdbRow[] | undefined> {
  try {
    await using database = await Ovsdb.open({
      path: ovnFiles(join(data, token))[`${which}Socket`],
    })
    return await database.select(
      which === 'northbound' ? 'OVN_Northbound' : 'OVN_Southbound',
      table,
      columns,
    )
  } catch {
    return undefined
  }
}
