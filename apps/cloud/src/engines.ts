import { openDatabase, openTenants, type TenantPool } from '@skerry/postgres'
import { connectTemporal, type NearClient, type TemporalClient } from '@skerry/temporal'
import type { VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import { makeBell, type Bell } from './bell.ts'
import type { Config } from './config.ts'
import { HostLinks, type Identity } from './hosts/connect.ts'
import { actingAs } from './store/acting-as.ts'
import type { Database } from './store/database.ts'
import { openReads, type Reads } from './store/reads.ts'

const CONNECTIONS = 16

/** What every part of a cell stands on. None of it has to be there when it is opened. */
export interface Engines extends AsyncDisposable {
  readonly db: Kysely<Database>
  readonly tenants: TenantPool<Database>
  readonly reads: Reads
  readonly temporal: TemporalClient
  readonly links: HostLinks
  readonly bell: Bell
  /** The way to Temporal of this cell's worker, which is up later than we are. */
  readonly useWorker: (worker: { near(): NearClient | undefined }) => void
  /** Nobody waits for it, and a lost one is rung again. */
  readonly ring: (vm: VmId) => void
}

/** `identity`: what this cell is to other machines, as it is at that moment. */
export function openEngines(config: Config, identity: () => Identity): Engines {
  const opened = new AsyncDisposableStack()
  const pool = { applicationName: `skerry ${config.cell}`, size: CONNECTIONS }
  const { database } = config
  const db = openDatabase<Database>({ ...pool, url: actingAs(database, 'skerry_system') })
  opened.defer(() => db.destroy())
  const tenants = opened.use(
    openTenants<Database>({ ...pool, url: actingAs(database, 'skerry_tenant') }),
  )
  const reads = opened.use(openReads(database, pool))
  const temporal = opened.use(connectTemporal(config.temporal))
  const links = opened.use(new HostLinks(db, identity))
  let near: () => NearClient | undefined = () => undefined
  const bell = makeBell(temporal, () => near())
  return {
    ...{ db, tenants, reads, temporal, links, bell },
    useWorker: (worker) => void (near = () => worker.near()),
    ring: (vm) => void bell.ring(vm).catch(() => undefined),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
