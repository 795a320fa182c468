// A cloud's database of a test's own: migrated, with one organisation and a host that is open for work.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freshDatabase, startPostgres, type Postgres } from '@skerry/lab'
import { inOrg, openDatabase, openTenants } from '@skerry/postgres'
import { makeSeal } from '@skerry/service'
import type { HostId, OrgId, TaskId, UserId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { prepareTables } from '../src/commands/prepare-tables.ts'
import type { Who } from '../src/identity/authorize.ts'
import type { VappId } from '../src/ids.ts'
import { actingAs } from '../src/store/acting-as.ts'
import type { Database } from '../src/store/database.ts'
import { openReads, type Reads } from '../src/store/reads.ts'
import type { Status } from '../src/vm-status.ts'
import type { Tx } from '../src/world.ts'

/** Brings a database to what the cloud needs. */
export const prepare = (url: string): Promise<void> => prepareTables({ database: url })

/** A PostgreSQL for all tests of a file. */
export async function startDatabases(): Promise<Postgres & AsyncDisposable> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-cloud-'))
  const postgres = await startPostgres(dir, { durable: false })
  const dispose = postgres[Symbol.asyncDispose].bind(postgres)
  return Object.assign(postgres, {
    async [Symbol.asyncDispose]() {
      await dispose()
      await rm(dir, { recursive: true, force: true })
    },
  })
}

export interface CloudDatabase extends AsyncDisposable {
  readonly db: Kysely<Database>
  readonly who: Who
  readonly host: HostId
  readonly reads: Reads
  /** The owner's way in. */
  readonly url: string
  /** Connections of a cell's own. */
  openPool(): Kysely<Database>
  /** As who owns the tables; its statements take as long as they take. */
  readonly asOwner: <T>(work: (db: Kysely<Database>) => Promise<T>) => Promise<T>
  as<T>(who: Who, work: (tx: Tx) => Promise<T>): Promise<T>
  /** A vApp of as many VMs, which are what they are said to be, on the host. */
  addVms(count: number, status?: Status): Promise<{ vapp: VappId; vms: readonly VmId[] }>
}

const OWNER_MS = 3_600_000
export const DIGEST = 'a'.repeat(64)

const sealKey = randomBytes(32).toString('base64')
/** That of all cells of a test. */
export const seal = makeSeal(
  () => sealKey,
  () => randomBytes(12),
)

export async function openCloudDatabase(postgres: Postgres): Promise<CloudDatabase> {
  const { url, [Symbol.asyncDispose]: drop } = await freshDatabase(postgres, prepare)
  const options = { applicationName: 'test', size: 8 }
  const openPool = () => openDatabase<Database>({ ...options, url: actingAs(url, 'skerry_system') })
  const db = openPool()
  const tenants = openTenants<Database>({ ...options, url: actingAs(url, 'skerry_tenant') })
  const reads = openReads(url, options)
  const org = await db
    .insertInto('org')
    .values({ name: 'eng' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const vdc = await db
    .insertInto('vdc')
    .values({ org: org.id, name: 'main' })
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.insertInto('image').values({ digest: DIGEST, bytes: '1', virtual_mib: 64 }).execute()
  const host = await addHost(db)
  const account = '00000000-0000-4000-8000-000000000001' as UserId
  return {
    db,
    host,
    reads,
    url,
    openPool,
    async asOwner(work) {
      const owner = openDatabase<Database>({ ...options, url, statementTimeoutMs: OWNER_MS })
      try {
        return await work(owner)
      } finally {
        await owner.destroy()
      }
    },
    who: { user: 'alice', account, org: org.id, orgName: 'eng', role: 'author' },
    as: (who, work) => inOrg(tenants, who.org, work),
    async addVms(count, status = 'POWERED_OFF') {
      const name = `app-${randomBytes(4).toString('hex')}`
      const vapp = await db
        .insertInto('vapp')
        .values({ org: org.id, vdc: vdc.id, name, owner: 'alice' })
        .returning('id')
        .executeTakeFirstOrThrow()
      const placed = status !== 'UNRESOLVED'
      const made = await db
        .insertInto('vm')
        .values(
          Array.from({ length: count }, (_, at) => ({
            ...{ org: org.id, vapp: vapp.id, name: `vm-${at}`, start_order: at, image: DIGEST },
            ...{ cpus: 1, memory_mib: 64, disk_mib: 64, status },
            ...(placed && { host, incarnation: '1' }),
          })),
        )
        .returning(['id', 'start_order'])
        .execute()
      return {
        vapp: vapp.id,
        vms: made.toSorted((a, b) => a.start_order - b.start_order).map(({ id }) => id),
      }
    },
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await tenants.destroy()
      await reads[Symbol.asyncDispose]()
      await drop()
    },
  }
}

/** A host that joined, with an open session for as long as the test lasts. */
export async function addHost(db: Kysely<Database>, name = 'host-1'): Promise<HostId> {
  const row = await db
    .insertInto('host')
    .values({
      ...{ name, address: '127.0.0.1', port: 1, public_key: name, enabled: true, introduced: true },
      ...{ cpus: 64, memory_mib: 65_536, disk_mib: 1_000_000, follower: 'test' },
      follow_until: sql<Date>`clock_timestamp() + interval '1 h'` as unknown as Date,
      ...{ session: '1', listed: '1' },
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export const taskOf = (db: Kysely<Database>, id: TaskId) =>
  db.selectFrom('task').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const vmOf = (db: Kysely<Database>, id: VmId) =>
  db.selectFrom('vm').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export type { OrgId }

/** What was told of, in its order. */
export const kindsOf = async (db: Kysely<Database>): Promise<string[]> =>
  (await db.selectFrom('event').select('kind').orderBy('seq').execute()).map(({ kind }) => kind)
