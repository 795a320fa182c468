// A complete small cloud for tests: real Postgres and Temporal, cells in their own processes, simulated hosts behind real mTLS.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { hostServer, type MachineIdentity } from '@skerry/host-api'
import {
  freePorts,
  startIssuer,
  startPostgres,
  startTemporal,
  until,
  type KeyPair,
  type Postgres,
  type Temporal,
} from '@skerry/lab'
import { simulatedHost, type SimulatedHost } from '@skerry/lab/simulated-host'
import { openDatabase } from '@skerry/postgres'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { prepareLogins } from '../src/command-line/prepare-tables.ts'
import type { CloudConfig } from '../src/config.ts'
import { actingAs, cellLogins } from '../src/database/acting-as.ts'
import type { CloudTables } from '../src/database/tables.ts'
import { original } from '../src/dialect/dialect.ts'
import { makeCursors, type CursorsOf } from '../src/feeds/event-cursors.ts'
import type { CellIdentity } from '../src/identity/issuers.ts'
import { CloudClient, type Reply } from './cloud-client.ts'
import { DIGEST, prepare } from './cloud-database.ts'
import { lightHash } from './light-hash.ts'

const CLOUD = 'lab'
const CELL_PROGRAM = join(import.meta.dirname, 'cell-process.ts')
const urisOf = (role: string, name: string) => [
  `URI:skerry://${CLOUD}/${role}/${name}`,
  `URI:skerry://${CLOUD}/epoch/1`,
]
export const PASSWORD = 'correct horse'

export interface Cell extends AsyncDisposable {
  readonly name: string
  readonly url: string
  /** The address of the original API. */
  readonly original: string
  /** The address of the machine API. */
  readonly machines: CloudConfig['machines']
  readonly log: string
  readonly pid: number
  kill9(): Promise<void>
  /** Runs another program instead of a plain cell, with more arguments. */
  start(program?: string, ...words: readonly string[]): Promise<void>
  /** Runs a plain cell with a command that begins with these words, in this environment. */
  startUnder(prefix: readonly string[], env?: NodeJS.ProcessEnv): Promise<void>
  /** Waits for its end; returns the signal that ended it. */
  died(): Promise<NodeJS.Signals | null>
}

export interface SmallCloud extends AsyncDisposable {
  readonly postgres: Postgres
  readonly temporal: Temporal
  readonly db: Kysely<CloudTables>
  readonly cells: readonly Cell[]
  readonly hosts: readonly (SimulatedHost & { readonly id: HostId })[]
  /** Creates the event cursors of an organisation. */
  readonly eventCursors: CursorsOf
  /** The CA certificate of the cells. */
  readonly ca: string
  /** A client that has logged in as an author of the organisation. */
  logIn(cell?: number): Promise<CloudClient>
  /** The same at the cell's other address, with the original names. */
  logInAsBefore(cell?: number): Promise<CloudClient>
  /** The response of that cell to such a login. */
  tryLogIn(cell: number): Promise<Reply>
  /** The client certificate of a workflow server with this name. */
  workflowServer(name: string): Promise<MachineIdentity>
  /** Starts one more cell with its own name. */
  addCell(): Promise<Cell>
}

export interface SmallCloudOptions {
  readonly cells?: number
  readonly hosts?: number
  /** Whether commits are durable, which only measurements need. */
  readonly durable?: boolean
  /** How many tasks a host and an organisation may have in progress. */
  readonly claims?: CloudConfig['claims']
}

export async function startSmallCloud(options: SmallCloudOptions = {}): Promise<SmallCloud> {
  const { cells = 1, hosts = 1, durable = false, claims } = options
  const dir = await mkdtemp(join(tmpdir(), 'skerry-small-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const postgres = stack.use(await startPostgres(join(dir, 'postgres'), { durable }))
  const temporal = stack.use(await startTemporal(join(dir, 'temporal'), postgres))
  const control = stack.use(await startIssuer('control'))
  const issuer = stack.use(await startIssuer('hosts'))
  const site = stack.use(await startIssuer('site'))
  await postgres.psql('create database cloud')
  const database = postgres.urlOf('cloud')
  await prepare(database)
  const db = openDatabase<CloudTables>({
    url: actingAs(database, 'skerry_system'),
    applicationName: 'test',
  })
  stack.defer(() => db.destroy())
  await seed(db)
  const served: (SimulatedHost & { id: HostId })[] = []
  for (let n = 0; n < hosts; n += 1) {
    served.push(await serve(stack, db, n, { issuer, control }))
  }
  const tls = await site.issue('IP:127.0.0.1', 'DNS:localhost')
  const sealKey = randomBytes(32).toString('base64')
  const made: Cell[] = []
  const running = stack.use(new AsyncDisposableStack())
  const addCell = async (): Promise<Cell> => {
    const name = `cell-${made.length + 1}`
    const machine = await control.issue(...urisOf('cell', name))
    const config: CloudConfig = {
      ...listenersAt(await freePorts(3)),
      cell: name,
      database,
      temporal: { address: temporal.address, namespace: temporal.namespace, tls: false },
      identity: dir,
      images: dir,
      ...(claims && { claims }),
    }
    const cell = running.use(
      await startCell(dir, config, {
        machine,
        ca: issuer.cert,
        tls,
        sealKey,
        trusted: { control: control.cert, hosts: issuer.cert, site: site.cert },
      }),
    )
    made.push(cell)
    return cell
  }
  for (let n = 0; n < cells; n += 1) await addCell()
  const all = stack.move()
  return {
    postgres,
    temporal,
    db,
    cells: made,
    hosts: served,
    addCell,
    ca: site.cert,
    eventCursors: makeCursors(() => sealKey),
    ...loginsAt(made, site.cert),
    async workflowServer(name) {
      return { ...(await control.issue(...urisOf('workflow', name))), ca: control.cert }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const loginsAt = (
  cells: readonly Cell[],
  ca: string,
): Pick<SmallCloud, 'logIn' | 'logInAsBefore' | 'tryLogIn'> => ({
  logIn: (at = 0) => CloudClient.logIn(cells[at]?.url ?? '', ca, 'alice@eng', PASSWORD),
  logInAsBefore: (at = 0) =>
    CloudClient.logIn(cells[at]?.original ?? '', ca, 'alice@eng', PASSWORD, { dialect: original }),
  tryLogIn: (at) => CloudClient.tryLogIn(cells[at]?.url ?? '', ca, 'alice@eng', PASSWORD),
})

function listenersAt(port: number): Pick<CloudConfig, 'base' | 'listen' | 'machines' | 'original'> {
  const address = '127.0.0.1'
  return {
    base: `https://127.0.0.1:${port}`,
    listen: { address, port },
    machines: { address, port: port + 1 },
    original: {
      base: `https://127.0.0.1:${port + 2}`,
      listen: { address, port: port + 2 },
    },
  }
}

interface CellFiles {
  readonly machine: KeyPair
  readonly ca: string
  readonly tls: KeyPair
  readonly sealKey: string
  readonly trusted: CellIdentity['trusted']
}

async function seed(db: Kysely<CloudTables>): Promise<void> {
  const { id: org } = await db
    .insertInto('org')
    .values({ name: 'eng' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const password = await lightHash(PASSWORD)
  await db.insertInto('account').values({ org, name: 'alice', role: 'author', password }).execute()
  await db.insertInto('vdc').values({ org, name: 'main' }).execute()
  await db.insertInto('image').values({ digest: DIGEST, bytes: '1', virtual_mib: 64 }).execute()
  await db
    .insertInto('template')
    .values({ org, name: 'small', image: DIGEST, cpus: 1, memory_mib: 64, disk_mib: 64 })
    .execute()
}

async function serve(
  stack: AsyncDisposableStack,
  db: Kysely<CloudTables>,
  n: number,
  { issuer, control }: Record<'issuer' | 'control', Awaited<ReturnType<typeof startIssuer>>>,
): Promise<SimulatedHost & { id: HostId }> {
  const { id } = await db
    .insertInto('host')
    .values({ name: `host-${n + 1}`, address: '127.0.0.1', port: 1, public_key: `${n}` })
    .returning('id')
    .executeTakeFirstOrThrow()
  const pair = await issuer.issue(`URI:skerry://${CLOUD}/host/${id}`)
  const host = simulatedHost()
  let highest = 0
  const epochs = {
    get highest() {
      return highest
    },
    raise: async (epoch: number) => {
      highest = epoch
    },
  }
  const server = hostServer({ ...pair, ca: control.cert }, host, { cloud: CLOUD, epochs })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stack.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  await db.updateTable('host').set({ port }).where('id', '=', id).execute()
  return Object.assign(host, { id })
}

async function startCell(
  dir: string,
  config: CloudConfig,
  { machine, ca, tls, sealKey, trusted }: CellFiles,
): Promise<Cell> {
  const at = (end: string) => join(dir, `${config.cell}.${end}`)
  await prepareLogins({ ...config, logins: cellLogins(config, sealKey) })
  await writeFile(at('config'), JSON.stringify(config))
  const name: CellIdentity['name'] = { cloud: CLOUD, role: 'cell', id: config.cell }
  const api: Partial<CellIdentity> = { name, epoch: 1, cell: machine, server: tls, trusted }
  const identity = { machine: { ...machine, ca }, tls, sealKey, api }
  await writeFile(at('identity'), JSON.stringify(identity))
  const log = at('log')
  let child: ChildProcess | undefined
  const stop = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  const startBy = async (command: readonly string[], env: NodeJS.ProcessEnv = {}) => {
    const [first = '', ...rest] = command
    child = spawn(first, rest, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    })
    child.stderr?.pipe(createWriteStream(log, { flags: 'a' }))
    const up = once(child.stdout as NodeJS.ReadableStream, 'data')
    const dead = once(child, 'exit').then(async () => {
      throw new Error(`the cell did not start: ${await readFile(log, 'utf8')}`)
    })
    await Promise.race([up, dead])
    dead.catch(() => undefined)
  }
  const wordsOf = (program: string) => [process.execPath, program, at('config'), at('identity')]
  const start = (program = CELL_PROGRAM, ...words: readonly string[]) =>
    startBy([...wordsOf(program), ...words])
  await start()
  return {
    startUnder: (prefix, env) => startBy([...prefix, ...wordsOf(CELL_PROGRAM)], env),
    name: config.cell,
    url: config.base,
    machines: config.machines,
    log,
    start,
    original: config.original?.base ?? '',
    get pid() {
      return child?.pid ?? 0
    },
    kill9: () => stop('SIGKILL'),
    async died() {
      if (child && child.exitCode === null && child.signalCode === null) await once(child, 'exit')
      return child?.signalCode ?? null
    },
    [Symbol.asyncDispose]: () => stop('SIGKILL'),
  }
}

/** Waits until every host is open for work. */
export async function untilOpen(db: Kysely<CloudTables>, hosts: number): Promise<void> {
  await until(
    `${hosts} hosts are open`,
    async () => {
      const { rows } = await sql<{ open: string }>`
      select count(*) as open from host where list_session = session and session > 0`.execute(db)
      return Number(rows[0]?.open) === hosts
    },
    120_000,
  )
}
