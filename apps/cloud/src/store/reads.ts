import { openReader, type Asking, type DatabaseOptions } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'

import { readingAs } from './acting-as.ts'
import { QUERY_MS } from './records.ts'

/** The query service's own connections: whatever is asked there, nobody else waits for one. */
export interface Reads extends AsyncDisposable {
  of(reach: OrgId | 'all'): Asking
}

/** Beside those of the cell itself, within what two cells may take of a database as it comes. */
const CONNECTIONS = { skerry_tenant: 6, skerry_system: 2 } as const

export function openReads(
  url: string,
  { applicationName }: Pick<DatabaseOptions, 'applicationName'>,
): Reads {
  const opened = new AsyncDisposableStack()
  const open = (role: Parameters<typeof readingAs>[1]) =>
    opened.use(
      openReader({
        ...{ url: readingAs(url, role), applicationName, size: CONNECTIONS[role] },
        statementTimeoutMs: QUERY_MS,
      }),
    )
  const [tenants, system] = [open('skerry_tenant'), open('skerry_system')]
  return {
    of: (reach) => (reach === 'all' ? system.everywhere() : tenants.in(reach)),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}
