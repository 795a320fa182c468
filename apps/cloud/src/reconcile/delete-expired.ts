import { sql, type Kysely } from 'kysely'

import { defaultRetention, type Retention } from '../config.ts'
import type { CloudTables } from '../database/tables.ts'
import { dropUnconfirmed } from '../second-factors/second-factors.ts'
import { dropExpiredTokens } from '../tenants/access-tokens.ts'
import { keepRetention } from './retention.ts'

/** In small batches, so that writers do not wait for it. */
const AT_ONCE = 2000

/**
 * When rows expire: an idempotency key after 30 days, a session and an idle upload after a day, a failed login and
 * one that was begun after an hour, and an ended grant after 90 days. Of usage, hours are kept for three years, and the spans that they were summed up from for 100 days.
 */
const over = [
  { table: 'request_key', since: 'made_at', age: '30 d' },
  { table: 'session', since: 'began_at', age: '24 h' },
  { table: 'upload', since: 'touched_at', age: '24 h' },
  { table: 'login_failure', since: 'last_at', age: '1 h' },
  { table: 'login_attempt', since: 'began_at', age: '1 h' },
  { table: 'device_login', since: 'began_at', age: '1 h' },
  { table: 'passkey_challenge', since: 'began_at', age: '1 h' },
  { table: 'passkey_proof', since: 'began_at', age: '1 h' },
  { table: 'workflow_login', since: 'at', age: '1 h' },
  { table: 'workflow_grant', since: 'ended_at', age: '90 d' },
  { table: 'usage_span', since: 'ended_at', age: '100 d' },
  { table: 'usage_hour', since: 'hour', age: '3 years' },
] as const

/** Deletes expired rows and returns their number. */
export async function deleteExpired(
  db: Kysely<CloudTables>,
  retention: Retention = defaultRetention,
): Promise<number> {
  let gone =
    (await keepRetention(db, retention)) +
    (await dropExpiredTokens(db)) +
    (await dropUnconfirmed(db))
  for (const { table, since, age } of over) {
    for (let more = true; more;) {
      const name = sql.table(table)
      const { numAffectedRows = 0n } = await sql`delete from ${name} where ctid = any(array(
        select ctid from ${name} where ${sql.ref(since)} < clock_timestamp() - ${age}::interval
        limit ${AT_ONCE}))`.execute(db)
      gone += Number(numAffectedRows)
      more = Number(numAffectedRows) === AT_ONCE
    }
  }
  return gone
}
