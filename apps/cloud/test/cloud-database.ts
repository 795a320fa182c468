// A separate cloud database for a test: migrated, with one organisation and a host that accepts work.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { freshDatabase, startPostgres, type Postgres, type Prepared } from '@skerry/lab'
import { inOrg, openDatabase, openTenants } from '@skerry/postgres'
import { makeSeal } from '@skerry/service'
import type { HostId, OrgId, TaskId, UserId, VmId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { prepareTables } from '../src/command-line/prepare-tables.ts'
import { actingAs } from '../src/database/acting-as.ts'
import type { Tx, CloudTables } from '../src/database/tables.ts'
import type { Principal } from '../src/domain/authorize.ts'
import type { VappId } from '../src/domain/ids.ts'
import { rightsOf } from '../src/domain/roles.ts'
import type { Status } from '../src/domain/vm-status.ts'
import { makeCursors } from '../src/feeds/event-cursors.ts'
import { openReads, type QueryPools } from '../src/query/reads.ts'

/** Migrates a database. */
export const prepare = (url: string): Promise<void> => prepareTables({ database: url })

const APPS = join(import.meta.dirname, '../..')
const OWN = join(APPS, '../packages/postgres')
/** The tables of an app, which `by` makes from its migrations. */
export const tablesOf = (app: 'cloud' | 'workflow', by: Prepared['by']): Prepared => ({
  by,
  from: [join(OWN, 'migrations'), join(OWN, 'src'), join(APPS, app, 'migrations')],
})

/** A PostgreSQL for all tests of a file, whose databases are prepared with the tables of a cloud or others. */
export async function startDatabases(
  prepared: Prepared | 'nothing' = tablesOf('cloud', prepare),
): Promise<Postgres & AsyncDisposable> {
  const dir = await mkdtemp(join(tmpdir(), 'skerry-cloud-'))
  const options = prepared === 'nothing' ? {} : { prepared }
  const postgres = await startPostgres(dir, { durable: false, ...options })
  const dispose = postgres[Symbol.asyncDispose].bind(postgres)
  return Object.assign(postgres, {
    async [Symbol.asyncDispose]() {
      await dispose()
      await rm(dir, { recursive: true, force: true })
    },
  })
}

export interface CloudDatabase extends AsyncDisposable {
  readonly db: Kysely<CloudTables>
  readonly principal: Principal
  readonly host: HostId
  readonly reads: QueryPools
  /** The URL of the owner. */
  readonly url: string
  /** The connections of a cell. */
  openPool(): Kysely<CloudTables>
  /** As the owner of the tables, without a statement timeout. */
  readonly asOwner: <T>(work: (db: Kysely<CloudTables>) => Promise<T>) => Promise<T>
  as<T>(principal: Principal, work: (tx: Tx) => Promise<T>): Promise<T>
  /** A vApp with this many VMs in the given state, on the host. */
  addVms(count: number, status?: Status): Promise<{ vapp: VappId; vms: readonly VmId[] }>
}

const OWNER_MS = 3_600_000
export const DIGEST = 'a'.repeat(64)

const sealKey = randomBytes(32).toString('base64')
/** Shared by all cells of a test. */
export const eventCursors = makeCursors(() => sealKey)
export const seal = makeSeal(
  () => sealKey,
  () => randomBytes(12),
)

/** Decrypts what `seal` has encrypted. */
export const openSealed = (sealed: Buffer, about: string): string => seal.open(sealed, about)

export async function openCloudDatabase(postgres: Postgres): Promise<CloudDatabase> {
  const { url, [Symbol.asyncDispose]: drop } = await freshDatabase(postgres, prepare)
  const options = { applicationName: 'test', size: 8 }
  const openPool = () =>
    openDatabase<CloudTables>({ ...options, url: actingAs(url, 'skerry_system') })
  const db = openPool()
  const tenants = openTenants<CloudTables>({ ...options, url: actingAs(url, 'skerry_tenant') })
  const reads = openReads({ skerry_tenant: url, skerry_system: url }, options)
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
      const owner = openDatabase<CloudTables>({ ...options, url, statementTimeoutMs: OWNER_MS })
      try {
        return await work(owner)
      } finally {
        await owner.destroy()
      }
    },
    principal: { user: 'alice', account, org: org.id, orgName: 'eng', ...rightsOf('author') },
    as: (principal, work) => inOrg(tenants, principal.org, work),
    addVms: (count, status = 'POWERED_OFF') =>
      addVms(db, { org: org.id, vdc: vdc.id, host }, count, status),
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await tenants.destroy()
      await reads[Symbol.asyncDispose]()
      await drop()
    },
  }
}

async function addVms(
  db: Kysely<CloudTables>,
  { org, vdc, host }: { readonly org: OrgId; readonly vdc: string; readonly host: HostId },
  count: number,
  status: Status,
): Promise<{ vapp: VappId; vms: readonly VmId[] }> {
  const name = `app-${randomBytes(4).toString('hex')}`
  const vapp = await db
    .insertInto('vapp')
    .values({ org, vdc, name, owner: 'alice' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const placed = status !== 'UNRESOLVED'
  const made = await db
    .insertInto('vm')
    .values(
      Array.from({ length: count }, (_, at) => ({
        org,
        vapp: vapp.id,
        name: `vm-${at}`,
        start_order: at,
        image: DIGEST,
        cpus: 1,
        memory_mib: 64,
        disk_mib: 64,
        status,
        ...(placed && { host, incarnation: '1' }),
      })),
    )
    .returning(['id', 'start_order'])
    .execute()
  return {
    vapp: vapp.id,
    vms: made.toSorted((a, b) => a.start_order - b.start_order).map(({ id }) => id),
  }
}

/** A joined host with an open session until the test ends. */
export async function addHost(db: Kysely<CloudTables>, name = 'host-1'): Promise<HostId> {
  const row = await db
    .insertInto('host')
    .values({
      name,
      address: '127.0.0.1',
      port: 1,
      public_key: name,
      enabled: true,
      first_list_read: true,
      cpus: 64,
      memory_mib: 65_536,
      disk_mib: 1_000_000,
      follower: 'test',
      follow_until: sql<Date>`clock_timestamp() + interval '1 h'` as unknown as Date,
      session: '1',
      list_session: '1',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

export const taskOf = (db: Kysely<CloudTables>, id: TaskId) =>
  db.selectFrom('task').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export const vmOf = (db: Kysely<CloudTables>, id: VmId) =>
  db.selectFrom('vm').selectAll().where('id', '=', id).executeTakeFirstOrThrow()

export type { OrgId }

/** The emitted events in their order, without those of observed states: they depend on when hosts come and go. */
export const kindsOf = async (db: Kysely<CloudTables>): Promise<string[]> =>
  (await db.selectFrom('event').select('kind').orderBy('seq').execute())
    .map(({ kind }) => kind)
    .filter((kind) => !isObservation(kind))

export const isObservation = (kind: string): boolean =>
  kind === 'vm.status' || kind === 'vms.unknown'
