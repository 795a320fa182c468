import { join } from 'node:path'

import { Fault } from '@skerry/fault'
import {
  inOrg,
  openDatabase,
  openTenants,
  prepareDatabase,
  type TenantPool,
} from '@skerry/postgres'
import { sql, type Kysely } from 'kysely'

import { seesAll } from './identity/rights.ts'
import { actingAs } from './store/acting-as.ts'
import type { Database } from './store/database.ts'
import type { RequestWorld } from './world.ts'

const MIGRATIONS = join(import.meta.dirname, '../migrations')
const CONNECTIONS = 10
const READY_MS = 1_000
const LOOK_AGAIN_MS = 500

export interface Store extends AsyncDisposable {
  readonly db: Kysely<Database>
  readonly as: RequestWorld['as']
  isReady(): Promise<boolean>
}

/** Brings the tables to what this release needs. Several servers may do it at once. */
export const prepareTables = (url: string): Promise<void> =>
  prepareDatabase({ url, applicationName: 'skerry workflow' }, MIGRATIONS)

interface Waiting {
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  readonly log: (message: string) => void
  readonly stopped: AbortSignal
}

/** A database that is away is waited for: it may have died at the same time, and be back a little later. */
export async function untilPrepared(url: string, { pause, log, stopped }: Waiting): Promise<void> {
  for (let tried = 0; ; tried += 1) {
    try {
      await prepareTables(url)
      return
    } catch (error) {
      const isAway = error instanceof Fault && error.kind === 'unavailable'
      if (!isAway || stopped.aborted) throw error
      if (tried === 0) log(`${error.message}; it is waited for`)
    }
    await pause(LOOK_AGAIN_MS, stopped)
  }
}

/** Connections that see one organisation, and those that see all. None has to be there when it is opened. */
export function openStore(url: string, name: string): Store {
  const pool = { applicationName: `skerry workflow ${name}`, size: CONNECTIONS }
  const db = openDatabase<Database>({ ...pool, url: actingAs(url, 'skerry_workflow_system') })
  const tenants: TenantPool<Database> = openTenants({
    ...pool,
    url: actingAs(url, 'skerry_workflow_tenant'),
  })
  return {
    db,
    as: (who, work) =>
      seesAll(who) ? db.transaction().execute(work) : inOrg(tenants, who.org, work),
    isReady: () => answersSoon(db),
    async [Symbol.asyncDispose]() {
      await db.destroy()
      await tenants.destroy()
    },
  }
}

async function answersSoon(db: Kysely<Database>): Promise<boolean> {
  const late = Promise.withResolvers<boolean>()
  const timer = setTimeout(() => late.resolve(false), READY_MS)
  const asked = sql`select 1`.execute(db).then(
    () => true,
    () => false,
  )
  try {
    return await Promise.race([asked, late.promise])
  } finally {
    clearTimeout(timer)
  }
}
