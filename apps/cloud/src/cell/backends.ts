import { openDatabase, openTenants, Pools, type TenantPool } from '@skerry/postgres'
import {
  certificatesFor,
  connectTemporal,
  type NearClient,
  type TemporalClient,
  type TemporalOptions,
} from '@skerry/temporal'
import type { VmId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudConfig } from '../config.ts'
import { actingAs, type CellLogins } from '../database/acting-as.ts'
import type { CloudTables } from '../database/tables.ts'
import { HostLinks, type Identity } from '../hosts/connect.ts'
import { openReads, type QueryPools } from '../query/reads.ts'
import { makeQueueWaker, type QueueWaker } from '../tasks/queue-waker.ts'

const CONNECTIONS = 16

/** The backends of a cell: PostgreSQL, Temporal and the links to hosts. None has to be reachable when it is opened. */
export interface Backends extends AsyncDisposable {
  readonly db: Kysely<CloudTables>
  readonly tenants: TenantPool<CloudTables>
  readonly reads: QueryPools
  /** The connection pools, for metrics. */
  readonly pools: Pools
  readonly temporal: TemporalClient
  /** For further connections to the same Temporal. */
  readonly temporalOptions: TemporalOptions
  readonly links: HostLinks
  readonly waker: QueueWaker
  /** Sets this cell's worker, whose connection to Temporal is ready later. */
  readonly useWorker: (worker: { near(): NearClient | undefined }) => void
  /** Wakes a VM's queue without waiting; a lost wake-up is repeated by the sweep. */
  readonly wake: (vm: VmId) => void
}

interface Access {
  /** The current identity of this cell towards other machines, and towards Temporal. */
  readonly identity: () => Identity
  readonly toTemporal: () => Identity
  readonly logins: CellLogins
}

export function openBackends(
  config: CloudConfig,
  { identity, toTemporal, logins }: Access,
): Backends {
  const opened = new AsyncDisposableStack()
  const pool = { applicationName: `skerry ${config.cell}`, size: CONNECTIONS }
  const pools = new Pools()
  const counted = (as: string) => ({ counted: { in: pools, as } })
  const { skerry_system: all, skerry_tenant: one } = logins
  const db = openDatabase<CloudTables>({
    ...pool,
    ...counted('system'),
    url: actingAs(all.url, 'skerry_system'),
  })
  opened.defer(() => db.destroy())
  const tenants = opened.use(
    openTenants<CloudTables>({
      ...pool,
      ...counted('tenant'),
      url: actingAs(one.url, 'skerry_tenant'),
    }),
  )
  const urls = { skerry_system: all.url, skerry_tenant: one.url }
  const reads = opened.use(openReads(urls, pool, pools))
  const { address, namespace, tls } = config.temporal
  const temporalOptions = { address, namespace, tls: certificatesFor(tls, toTemporal) }
  const temporal = opened.use(connectTemporal(temporalOptions))
  const links = opened.use(new HostLinks(db, identity))
  let near: () => NearClient | undefined = () => undefined
  const waker = makeQueueWaker(temporal, () => near())
  return {
    db,
    tenants,
    reads,
    pools,
    temporal,
    temporalOptions,
    links,
    waker,
    useWorker: (worker) => void (near = () => worker.near()),
    wake: (vm) => void waker.wake(vm).catch(() => undefined),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
