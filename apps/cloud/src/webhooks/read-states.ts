import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

export const webhookStates = ['working', 'failing', 'given-up', 'asked'] as const

/** For metrics: without names of tenants. */
export interface WebhookStates {
  readonly counts: Partial<Readonly<Record<(typeof webhookStates)[number], number>>>
  /** The longest of each organisation. */
  readonly failing: readonly { readonly org: OrgId; readonly seconds: number }[]
}

export async function readWebhookStates(db: Kysely<CloudTables>): Promise<WebhookStates> {
  const counted = await sql<{ state: (typeof webhookStates)[number]; count: number }>`
    select case when disabled = 'asked' then 'asked' when disabled is not null then 'given-up'
        when failing_since is not null then 'failing' else 'working' end as state, count(*)::integer as count
    from webhook group by 1`.execute(db)
  const failing = await sql<{ org: OrgId; seconds: number }>`
    select org, extract(epoch from clock_timestamp() - min(failing_since))::double precision as seconds
    from webhook where failing_since is not null and disabled is null group by org order by org`.execute(
    db,
  )
  const counts = Object.fromEntries(counted.rows.map(({ state, count }) => [state, count]))
  return { counts, failing: failing.rows }
}
