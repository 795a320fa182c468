// A cell in its own process, with a real PostgreSQL and TLS, for attacks that need no host: there is no Temporal.
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { request, type Agent } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'

import { freePorts, startIssuer, startPostgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { hashToken } from '../../apps/cloud/src/auth/access-token.ts'
import { hashPassword } from '../../apps/cloud/src/auth/password.ts'
import { prepareLogins } from '../../apps/cloud/src/command-line/prepare-tables.ts'
import type { CloudConfig } from '../../apps/cloud/src/config.ts'
import { actingAs, cellLogins } from '../../apps/cloud/src/database/acting-as.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import type { Role } from '../../apps/cloud/src/domain/roles.ts'
import { prepare } from '../../apps/cloud/test/cloud-database.ts'

const CELL_PROGRAM = join(import.meta.dirname, '../../apps/cloud/test/cell-process.ts')
export const PASSWORD = 'correct horse'
export const ACCEPT = 'application/*+xml;version=5.1'

export interface Asked {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The source address on the loopback. */
  readonly from?: string
  readonly agent?: Agent | false
}

export interface LoneCell extends AsyncDisposable {
  readonly port: number
  /** The listener for clients of the original API. */
  readonly originalPort: number
  readonly ca: string
  /** Encrypts secrets in the database. */
  readonly sealKey: string
  readonly db: Kysely<CloudTables>
  addOrg(name: string): Promise<OrgId>
  addUser(org: OrgId, name: string, role: Role): Promise<void>
  /** A session of a new user, without the cost of a login. */
  enter(org: OrgId, role: Role): Promise<string>
  ask(path: string, requested?: Asked): Promise<{ readonly status: number; readonly text: string }>
  logIn(user: string, password: string, requested?: Asked): Promise<number>
  /** Open files, MiB of memory and ms of CPU time so far. */
  costs(): Promise<{ readonly files: number; readonly mib: number; readonly cpuMs: number }>
}

/** `host`: the name in its public address, of this machine. */
export async function startLoneCell(host = '127.0.0.1'): Promise<LoneCell> {
  await using stack = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'skerry-lone-'))
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const postgres = stack.use(await startPostgres(join(dir, 'postgres')))
  await postgres.psql('create database cloud')
  const database = postgres.urlOf('cloud')
  await prepare(database)
  const url = actingAs(database, 'skerry_system')
  const db = openDatabase<CloudTables>({ url, applicationName: 'attack' })
  stack.defer(() => db.destroy())
  const site = stack.use(await startIssuer('site'))
  const tls = await site.issue('IP:127.0.0.1,DNS:localhost')
  const port = await freePorts(4)
  const address = '127.0.0.1'
  const config: CloudConfig = {
    base: `https://${host}:${port}`,
    cell: 'lone',
    database,
    identity: dir,
    images: dir,
    listen: { address, port },
    machines: { address, port: port + 1 },
    original: { base: `https://127.0.0.1:${port + 3}`, listen: { address, port: port + 3 } },
    temporal: { address: `127.0.0.1:${port + 2}`, namespace: 'nowhere', tls: false },
  }
  await writeFile(join(dir, 'config'), JSON.stringify(config))
  const sealKey = randomBytes(32).toString('base64')
  await prepareLogins({ ...config, logins: cellLogins(config, sealKey) })
  const machine = { ...tls, ca: site.cert }
  await writeFile(join(dir, 'identity'), JSON.stringify({ machine, tls, sealKey }))
  const child = spawn(
    process.execPath,
    [CELL_PROGRAM, join(dir, 'config'), join(dir, 'identity')],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  child.stderr.pipe(createWriteStream(join(dir, 'log')))
  const died = once(child, 'exit')
  stack.defer(async () => {
    child.kill('SIGKILL')
    await died
  })
  await Promise.race([
    once(child.stdout, 'data'),
    died.then(async () => {
      throw new Error(`the cell did not start: ${await readFile(join(dir, 'log'), 'utf8')}`)
    }),
  ])
  const ask: LoneCell['ask'] = async (path, requested = {}) => {
    const { method = 'GET', headers, from = address, agent = false } = requested
    const sent = request({
      host: address,
      port,
      path,
      method,
      ca: site.cert,
      agent,
      localAddress: from,
      headers: { accept: ACCEPT, ...headers },
    })
    sent.end()
    const [response] = await once(sent, 'response')
    return { status: response.statusCode, text: await textOf(response) }
  }
  const all = stack.move()
  return {
    port,
    originalPort: port + 3,
    ca: site.cert,
    sealKey,
    db,
    ask,
    addOrg: (name) => addOrg(db, name),
    async addUser(org, name, role) {
      const password = await hashPassword(PASSWORD, randomBytes(16))
      await db.insertInto('account').values({ org, name, role, password }).execute()
    },
    enter: (org, role) => enter(db, org, role),
    async logIn(user, password, requested = {}) {
      const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
      const { status } = await ask('/api/sessions', {
        ...requested,
        method: 'POST',
        headers: { authorization },
      })
      return status
    },
    async costs() {
      const files = (await readdir(`/proc/${child.pid}/fd`)).length
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8')
      const [, times = ''] = (await readFile(`/proc/${child.pid}/stat`, 'utf8')).split(') ')
      const [user = 0, system = 0] = times.split(' ').slice(11, 13).map(Number)
      const mib = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024)
      // Counted in hundredths of a second.
      return { files, mib, cpuMs: (user + system) * 10 }
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

async function addOrg(db: Kysely<CloudTables>, name: string): Promise<OrgId> {
  const made = await db.insertInto('org').values({ name }).returning('id').executeTakeFirstOrThrow()
  return made.id
}

async function enter(db: Kysely<CloudTables>, org: OrgId, role: Role): Promise<string> {
  const token = randomBytes(32).toString('base64url')
  const account = await db
    .insertInto('account')
    .values({ org, name: token.slice(0, 12), role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const session = { token_hash: hashToken(token), org, account: account.id }
  await db.insertInto('session').values(session).execute()
  return token
}

export function share(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}
