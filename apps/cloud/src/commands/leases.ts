import { sql } from 'kysely'

import type { AdminCommand } from '../command-line/command.ts'
import { withStore } from '../command-line/with-store.ts'

/** The operator's confirmation after the event leases.held. */
export const leasesAllow: AdminCommand = {
  name: 'leases allow',
  words: [],
  options: {},
  summary: 'for one hour, let expired leases stop and delete any number of VMs',
  run: ({ print }, requested) =>
    withStore(requested, async (db) => {
      const { expiry_allowed_until: until } = await db
        .updateTable('cloud')
        .set({ expiry_allowed_until: sql<Date>`clock_timestamp() + interval '1 hour'` })
        .returning('expiry_allowed_until')
        .executeTakeFirstOrThrow()
      const said = until?.toISOString()
      print(
        requested.options['json'] === true
          ? JSON.stringify({ until: said })
          : `expired leases may stop and delete any number of VMs until ${said}`,
      )
    }),
}
