// Consoles for tests: real processes behind a balancer, a real PostgreSQL, hosts with simulated VMs behind real mTLS.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { connectHost, type HostApi } from '@skerry/host-api'
import { freePorts, startBalancer, until, type Postgres } from '@skerry/lab'
import { type SimulatedHost } from '@skerry/lab/simulated-host'
import { openDatabase } from '@skerry/postgres'
import { hashOf, issueTicket } from '@skerry/ticket'
import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import { actingAs } from '../../apps/cloud/src/database/acting-as.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { addHost, DIGEST, startDatabases, vmOf } from '../../apps/cloud/test/cloud-database.ts'
import {
  openConsoleDatabase,
  type ConsoleDatabase,
  type User,
} from '../../apps/cloud/test/console-database.ts'
import { makeAuthority, type Authority } from './authority.ts'
import { startConsole, type ConsoleOptions, type ConsoleProcess } from './console-process.ts'
import { serveSimulated, type ServedHost } from './served-host.ts'
import { inTurns } from './viewer.ts'

/** The origin of the cloud's web UI, whose pages may open screens. */
export const CLOUD = 'https://cloud.example:8443'
/** The address of the consoles, and the Origin of their page. */
export const ADDRESS = '127.0.0.2'
const PATIENCE_MS = 60_000

export interface SmallConsole extends AsyncDisposable {
  readonly postgres: Postgres
  readonly it: ConsoleDatabase
  readonly authority: Authority
  readonly hosts: readonly ServedHost[]
  readonly consoles: readonly ConsoleProcess[]
  /** The balancer's, which is also the page's. */
  readonly url: string
  /** One more, without the balancer. */
  addConsole(options?: ConsoleOptions): Promise<ConsoleProcess>
  /** VMs that are on, spread over the hosts. */
  addVms(count: number): Promise<VmId[]>
  /** Power off, or on in another boot, at the host; default: the cloud's row is updated too. */
  power(vm: VmId, to: 'on' | 'off', row?: 'follows' | 'stays'): Promise<void>
  /** At the host and in the cloud. */
  remove(vm: VmId): Promise<void>
  users(count: number): Promise<User[]>
  /** As a cell issues it: the host is armed, then it is stored. */
  ticket(vm: VmId, user: User): Promise<string>
  /**
   * Waits until only this many are open in the database, which counts them for the next ticket and records an end a moment after
   * the viewer.
   */
  settled(open: number): Promise<void>
  /** How much screens opened from now on paint, in bytes a second. */
  paint(rate: number): void
  /** The host of this VM, as a cell calls it. */
  hostOf(vm: VmId): Promise<{ readonly host: SimulatedHost; readonly api: HostApi }>
}

export async function startSmallConsole({
  consoles = 2,
  hosts: count = 1,
  drainSeconds = 1,
  paints = 0,
} = {}): Promise<SmallConsole> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-console-'))
  await using stack = new AsyncDisposableStack()
  stack.defer(() => rm(dir, { recursive: true, force: true }))
  const postgres = stack.use(await startDatabases())
  const it = stack.use(await openConsoleDatabase(postgres))
  const { host: first } = it.cloud
  // This process also simulates the hosts and the viewers: requests may wait for a handshake.
  const db = openDatabase<CloudTables>({
    url: actingAs(it.cloud.url, 'skerry_system'),
    applicationName: 'small console',
    connectTimeoutMs: PATIENCE_MS,
  })
  stack.defer(() => db.destroy())
  const authority = await makeAuthority()
  const hosts: ServedHost[] = []
  const screens = { paints }
  for (let n = 0; n < count; n += 1) {
    const id = n === 0 ? first : await addHost(db, `host-${n + 1}`)
    const served = stack.use(await serveSimulated(authority, id, { screens }))
    await db.updateTable('host').set({ port: served.port }).where('id', '=', id).execute()
    hosts.push(served)
  }
  const publicPort = await freePorts(1 + consoles)
  const url = `https://${ADDRESS}:${publicPort}`
  const made: ConsoleProcess[] = []
  const running = stack.use(new AsyncDisposableStack())
  const database = it.consoleUrl
  // As `skerry admin console-server create` stores it: a cell that prepares the database does not change its login.
  const { username: login } = new URL(database)
  const machine = { name: 'console', host: '127.0.0.1', login }
  await it.cloud.db.insertInto('console_machine').values(machine).execute()
  const common = { dir, authority, page: url, pages: [CLOUD], database, drainSeconds }
  for (let n = 0; n < consoles; n += 1) {
    const own = { name: `console-${n + 1}`, port: publicPort + 1 + n }
    made.push(running.use(await startConsole({ ...common, ...own })))
  }
  const targets = made.map(({ port }) => ({ host: ADDRESS, port }))
  stack.use(await startBalancer({ address: ADDRESS, port: publicPort, targets }))
  const cell = await authority.machine('cell', 'cell-1')
  const links = hosts.map(({ id: hostId, port }) =>
    stack.use(
      connectHost({ address: '127.0.0.1', port, hostId, tls: { ...cell, ca: authority.hosts } }),
    ),
  )
  let number = 1
  const order = (vm: VmId, incarnation = '1') => {
    number += 1
    const task = `task-${number}` as TaskId
    return { vm, task, key: `${task}:step`, fencingToken: String(number), incarnation }
  }
  const hostOf = async (vm: VmId) => {
    const { host: id } = await vmOf(db, vm)
    const at = hosts.findIndex((each) => each.id === id)
    const [served, api] = [hosts[at], links[at]]
    if (!served || !api) throw new Error(`VM ${vm} is on no host`)
    return { host: served.host, api, incarnation: (await vmOf(db, vm)).incarnation ?? '1' }
  }
  const power: SmallConsole['power'] = async (vm, to, row = 'follows') => {
    const { api, incarnation } = await hostOf(vm)
    const { vm: now } = await api.step(order(vm, incarnation), { goal: 'power', to })
    if (row === 'stays') return
    const status = to === 'on' ? 'POWERED_ON' : 'POWERED_OFF'
    await sql`update vm set status = ${status}, boot = ${now?.boot ?? null} where id = ${vm}`.execute(
      db,
    )
  }
  let named = consoles
  const all = stack.move()
  return {
    postgres,
    it,
    authority,
    hosts,
    consoles: made,
    url,
    power,
    hostOf,
    paint: (rate) => void (screens.paints = rate),
    async settled(open) {
      const isSettled = async () => {
        const { rows } = await sql<{ count: string }>`
          select count(*) from console where ended_at is null`.execute(db)
        return Number(rows[0]?.count) === open
      }
      await until(`${open} screens should be open`, isSettled, PATIENCE_MS)
    },
    async addConsole(options = {}) {
      named += 1
      const own = { name: `console-${named}`, port: await freePorts() }
      const added = running.use(await startConsole({ ...common, ...own }, options))
      made.push(added)
      return added
    },
    async addVms(wanted) {
      const { vms } = await it.cloud.addVms(wanted, 'POWERED_OFF')
      // Not all at once: they share a few connections to the database.
      await inTurns(vms, 16, async (vm, at) => {
        const id = hosts[at % hosts.length]?.id
        await sql`update vm set host = ${id} where id = ${vm}`.execute(db)
        const { api } = await hostOf(vm)
        const spec = { org: it.cloud.principal.org, vApp: 'app', name: vm, image: DIGEST }
        const sizes = { cpus: 1, memoryMiB: 64, diskMiB: 64 }
        await api.step(order(vm), { goal: 'defined', spec: { ...spec, ...sizes } })
        await power(vm, 'on')
      })
      return [...vms]
    },
    async remove(vm) {
      await power(vm, 'off')
      const { api } = await hostOf(vm)
      await api.step(order(vm), { goal: 'gone' })
      await sql`update vm set closed = true, deleted_at = clock_timestamp() where id = ${vm}`.execute(
        db,
      )
    },
    users: (wanted) => Promise.all(Array.from({ length: wanted }, () => it.addUser())),
    async ticket(vm, principal) {
      const secret = randomBytes(32).toString('base64url')
      const row = await vmOf(db, vm)
      const { boot, host } = row
      if (boot === null || host === null) throw new Error('only a VM that is on has a screen')
      const hash = hashOf(secret)
      const { api } = await hostOf(vm)
      await api.arm({ vm, boot, ticketHash: hash.toString('hex') })
      await db
        .transaction()
        .execute((tx) => issueTicket(tx, { hash, vm: row, boot, host, principal }))
      return secret
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}
