// The wait after wrong passwords. The first one is a second, and a busy machine may take longer for one login.
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'

const HOUR_S = 3600

/** Prolongs the waits that have begun by an hour. Returns how many seconds each of them was. */
export async function prolongWaits(db: Kysely<CloudTables>): Promise<readonly number[]> {
  // The cell reads the clock twice: without a wait, too, the two times are a microsecond apart.
  const { rows } = await sql<{ seconds: number }>`
    update login_failure set until = until + make_interval(secs => ${HOUR_S})
    where until - last_at > interval '0.5 s'
    returning round(extract(epoch from until - last_at))::integer - ${HOUR_S}::integer as seconds`.execute(
    db,
  )
  return rows.map(({ seconds }) => seconds)
}
