import { tenantAdmin } from '@skerry/command-line'
import { sql } from 'kysely'

import { runs } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'

/** The operator's confirmation after the event leases.held. */
export const allowLeases = runs(tenantAdmin.allowLeases, ({ print }, requested) =>
  withStore(requested, async (db) => {
    const { expiry_allowed_until: until } = await db
      .updateTable('cloud')
      .set({ expiry_allowed_until: sql<Date>`clock_timestamp() + interval '1 hour'` })
      .returning('expiry_allowed_until')
      .executeTakeFirstOrThrow()
    const said = until?.toISOString()
    print(
      requested.json
        ? JSON.stringify({ until: said })
        : `expired leases may stop and delete any number of VMs until ${said}`,
    )
  }),
)
