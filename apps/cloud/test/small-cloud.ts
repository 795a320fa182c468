// A whole small cloud for tests: real Postgres and Temporal, cells in processes of their own, simulated hosts behind real mTLS.
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { hostServer, type Identity } from '@skerry/host-api'
import {
  freePorts,
  simulatedHost,
  startIssuer,
  startPostgres,
  startTemporal,
  until,
  type KeyPair,
  type Postgres,
  type SimulatedHost,
  type Temporal,
} from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Config } from '../src/config.ts'
import { original } from '../src/http/dialect.ts'
import type { CellIdentity } from '../src/identity/issuers.ts'
import { hashPassword } from '../src/identity/password.ts'
import { actingAs } from '../src/store/acting-as.ts'
import type { Database } from '../src/store/database.ts'
import { CloudClient, type Reply } from './cloud-client.ts'
import { DIGEST, prepare } from './cloud-database.ts'

const CLOUD = 'lab'
const CELL_PROGRAM = join(import.meta.dirname, 'cell-process.ts')
export const PASSWORD = 'correct horse'

export interface Cell extends AsyncDisposable {
  readonly name: string
  readonly url: string
  /** Where it speaks the original API. */
  readonly original: string
  /** Where machines come in. */
  readonly machines: Config['machines']
  readonly log: string
  readonly pid: number
  kill9(): Promise<void>
  /** Runs another program instead of a plain cell when told, with more words for it. */
  start(program?: string, ...words: readonly string[]): Promise<void>
  /** Waits for its end; the signal that ended it. */
  died(): Promise<NodeJS.Signals | null>
}

export interface SmallCloud extends AsyncDisposable {
  readonly postgres: Postgres
  readonly temporal: Temporal
  readonly db: Kysely<Database>
  readonly cells: readonly Cell[]
  readonly hosts: readonly (SimulatedHost & { readonly id: HostId })[]
  /** By whose word the cells are those that they say. */
  readonly ca: string
  /** A client that has logged in as an author of the organisation. */
  logIn(cell?: number): Promise<CloudClient>
  /** The same at the cell's other address, with the original names. */
  logInAsBefore(cell?: number): Promise<CloudClient>
  /** What that cell says to such a login now. */
  tryLogIn(cell: number): Promise<Reply>
  /** What a workflow server of this name shows to the cells. */
  workflowServer(name: string): Promise<Identity>
  /** One more cell, which has a name of its own. */
  addCell(): Promise<Cell>
}

/** `durable`: whether a commit is on disk before it is answered, which only measurements need. */
export async function startSmallCloud({
  cells = 1,
  hosts = 1,
  durable = false,
} = {}): Promise<SmallCloud> {
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
  const db = openDatabase<Database>({
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
    const machine = await control.issue(`URI:skerry://${CLOUD}/cell/${name}`)
    const port = await freePorts(3)
    const address = '127.0.0.1'
    const config: Config = {
      ...{ base: `https://127.0.0.1:${port}`, cell: name, database },
      ...{ listen: { address, port }, machines: { address, port: port + 1 } },
      original: {
        ...{ base: `https://127.0.0.1:${port + 2}`, listen: { address, port: port + 2 } },
      },
      temporal: { address: temporal.address, namespace: temporal.namespace },
      ...{ identity: dir, images: dir },
    }
    const cell = running.use(
      await startCell(dir, config, {
        ...{ machine, ca: issuer.cert, tls, sealKey },
        trusted: { control: control.cert, hosts: issuer.cert, site: site.cert },
      }),
    )
    made.push(cell)
    return cell
  }
  for (let n = 0; n < cells; n += 1) await addCell()
  const all = stack.move()
  return {
    ...{ postgres, temporal, db, cells: made, hosts: served, addCell, ca: site.cert },
    logIn: (at = 0) => CloudClient.logIn(made[at]?.url ?? '', site.cert, 'alice@eng', PASSWORD),
    logInAsBefore: (at = 0) =>
      CloudClient.logIn(made[at]?.original ?? '', site.cert, 'alice@eng', PASSWORD, {
        dialect: original,
      }),
    tryLogIn: (at) => CloudClient.tryLogIn(made[at]?.url ?? '', site.cert, 'alice@eng', PASSWORD),
    async workflowServer(name) {
      const uris = [`URI:skerry://${CLOUD}/workflow/${name}`, `URI:skerry://${CLOUD}/epoch/1`]
      return { ...(await control.issue(...uris)), ca: control.cert }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

interface CellFiles {
  readonly machine: KeyPair
  readonly ca: string
  readonly tls: KeyPair
  readonly sealKey: string
  readonly trusted: CellIdentity['trusted']
}

async function seed(db: Kysely<Database>): Promise<void> {
  const { id: org } = await db
    .insertInto('org')
    .values({ name: 'eng' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const password = await hashPassword(PASSWORD, randomBytes(16))
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
  db: Kysely<Database>,
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
  config: Config,
  { machine, ca, tls, sealKey, trusted }: CellFiles,
): Promise<Cell> {
  const at = (end: string) => join(dir, `${config.cell}.${end}`)
  await writeFile(at('config'), JSON.stringify(config))
  const name: CellIdentity['name'] = { cloud: CLOUD, role: 'cell', id: config.cell }
  const door: Partial<CellIdentity> = { name, epoch: 1, cell: machine, server: tls, trusted }
  const identity = { machine: { ...machine, ca }, tls, sealKey, door }
  await writeFile(at('identity'), JSON.stringify(identity))
  const log = at('log')
  let child: ChildProcess | undefined
  const stop = async (signal: NodeJS.Signals) => {
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  const start = async (program = CELL_PROGRAM, ...words: readonly string[]) => {
    child = spawn(process.execPath, [program, at('config'), at('identity'), ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    child.stderr?.pipe(createWriteStream(log, { flags: 'a' }))
    const up = once(child.stdout as NodeJS.ReadableStream, 'data')
    const dead = once(child, 'exit').then(async () => {
      throw new Error(`the cell did not start: ${await readFile(log, 'utf8')}`)
    })
    await Promise.race([up, dead])
    dead.catch(() => undefined)
  }
  await start()
  return {
    ...{ name: config.cell, url: config.base, machines: config.machines, log, start },
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
export async function untilOpen(db: Kysely<Database>, hosts: number): Promise<void> {
  await until(
    `${hosts} hosts are open`,
    async () => {
      const { rows } = await sql<{ open: string }>`
      select count(*) as open from host where listed = session and session > 0`.execute(db)
      return Number(rows[0]?.open) === hosts
    },
    60_000,
  )
}
