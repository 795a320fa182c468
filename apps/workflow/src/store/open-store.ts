import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import {
  inOrg,
  keepLogins,
  openDatabase,
  Pools,
  openTenants,
  prepareDatabase,
  type TenantPool,
} from '@skerry/postgres'
import { sql, type Kysely } from 'kysely'

import { seesAll, type WorkflowPrincipal } from '../identity/rights.ts'
import { actingAs, type ServerLogins } from './acting-as.ts'
import type { WorkflowTables, WorkflowTx } from './database.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations')
const CONNECTIONS = 10
const READY_MS = 1_000
const LOOK_AGAIN_MS = 500

export interface Store extends AsyncDisposable {
  readonly db: Kysely<WorkflowTables>
  /** Runs a transaction in which PostgreSQL shows only the rows of this caller. */
  as<T>(principal: WorkflowPrincipal, work: (tx: WorkflowTx) => Promise<T>): Promise<T>
  /** The connection pools, for metrics. */
  readonly pools: Pools
  isReady(): Promise<boolean>
}

/** Migrates the tables to this release. Several servers may do it at the same time. */
export const prepareTables = (url: string): Promise<void> =>
  prepareDatabase({ url, applicationName: 'skerry workflow' }, MIGRATIONS)

/** Creates the database logins of a server and revokes access from all others. */
export async function prepareLogins(url: string, logins: ServerLogins): Promise<void> {
  const owner = openDatabase<WorkflowTables>({ url, applicationName: 'skerry workflow', size: 1 })
  try {
    await keepLogins(owner, Object.values(logins))
  } finally {
    await owner.destroy()
  }
}

interface WaitContext {
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string) => void
  readonly stopped: AbortSignal
}

/** Waits while the database is unavailable: it may have stopped together with this server and return a little later. */
export async function untilPrepared(
  url: string,
  logins: ServerLogins,
  { pause, log, stopped }: WaitContext,
): Promise<void> {
  for (let tried = 0; ; tried += 1) {
    try {
      await prepareTables(url)
      await prepareLogins(url, logins)
      return
    } catch (error) {
      const isAway = error instanceof Fault && error.kind === 'unavailable'
      if (!isAway || stopped.aborted) throw error
      if (tried === 0) log(`${error.message}; waiting for it`)
    }
    await pause(LOOK_AGAIN_MS, stopped)
  }
}

/** One pool limited to one organisation's rows, one that sees all rows. The database need not be reachable when they open. */
export function openStore(logins: ServerLogins, name: string): Store {
  const pool = { applicationName: `skerry workflow ${name}`, size: CONNECTIONS }
  const { skerry_workflow_system: all, skerry_workflow_tenant: one } = logins
  const pools = new Pools()
  const db = openDatabase<WorkflowTables>({
    ...pool,
    url: actingAs(all.url, 'skerry_workflow_system'),
    counted: { in: pools, as: 'system' },
  })
  const tenants: TenantPool<WorkflowTables> = openTenants({
    ...pool,
    url: actingAs(one.url, 'skerry_workflow_tenant'),
    counted: { in: pools, as: 'tenant' },
  })
  return {
    db,
    pools,
    as: (principal, work) =>
      seesAll(principal) ? db.transaction().execute(work) : inOrg(tenants, principal.org, work),
    isReady: () => answersSoon(db),
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await tenants.destroy()
    },
  }
}

async function answersSoon(db: Kysely<WorkflowTables>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), READY_MS)
  const requested = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([requested, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
