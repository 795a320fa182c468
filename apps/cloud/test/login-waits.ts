// The wait after wrong passwords. The first one is a second, and a busy machine may take longer for one login.
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'

const HOUR_S = 3600

/** Prolongs the waits that have begun by an hour. */
export async function prolongWaits(db: Kysely<CloudTables>): Promise<void> {
  await sql`update login_failure set until = until + make_interval(secs => ${HOUR_S}) where until > last_at`.execute(
    db,
  )
}
