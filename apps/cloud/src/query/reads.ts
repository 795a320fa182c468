import { openReader, type SnapshotReader, type DatabaseOptions, type Pools } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'

import { readingAs, type ActingRole } from '../database/acting-as.ts'
import { QUERY_MS } from './records.ts'

/** The query service's own connections, so that slow queries do not block other requests. */
export interface QueryPools extends AsyncDisposable {
  of(reach: OrgId | 'all'): SnapshotReader
}

/** In addition to those of the cell itself; two cells stay within the default connection limit of PostgreSQL. */
const CONNECTIONS = { skerry_tenant: 6, skerry_system: 2 } as const

export function openReads(
  urls: Readonly<Record<ActingRole, string>>,
  { applicationName }: Pick<DatabaseOptions, 'applicationName'>,
  pools?: Pools,
): QueryPools {
  const opened = new AsyncDisposableStack()
  const open = (role: ActingRole) =>
    opened.use(
      openReader({
        url: readingAs(urls[role], role),
        applicationName,
        size: CONNECTIONS[role],
        statementTimeoutMs: QUERY_MS,
        ...(pools && { counted: { in: pools, as: `query ${role.replace('skerry_', '')}` } }),
      }),
    )
  const [tenants, system] = [open('skerry_tenant'), open('skerry_system')]
  return {
    of: (reach) => (reach === 'all' ? system.everywhere() : tenants.in(reach)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
