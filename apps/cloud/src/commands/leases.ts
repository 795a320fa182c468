import { sql } from 'kysely'

import type { Command } from '../command.ts'
import { withStore } from './with-store.ts'

/** The answer to the event leases.held. */
export const leasesAllow: Command = {
  name: 'leases allow',
  words: [],
  options: {},
  summary: 'lets leases that are over stop and delete as many VMs as they concern, for an hour',
  run: ({ print }, asked) =>
    withStore(asked, async (db) => {
      const { expiry_allowed_until: until } = await db
        .updateTable('cloud')
        .set({ expiry_allowed_until: sql<Date>`clock_timestamp() + interval '1 hour'` })
        .returning('expiry_allowed_until')
        .executeTakeFirstOrThrow()
      const said = until?.toISOString()
      print(
        asked.options['json'] === true
          ? JSON.stringify({ until: said })
          : `leases may stop and delete any number of VMs until ${said}`,
      )
    }),
}
