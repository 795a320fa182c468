import { sql, type Kysely } from 'kysely'

import type { Database } from '../store/database.ts'

/** In small parts, so that nobody who writes waits for it. */
const AT_ONCE = 2000

/** What is over: a key after 30 days is a new request, a token after a day lets nobody in, an upload that nobody sent to for a day will not be ended, a wrong password is forgotten, and so is a grant that is over, after as long as anybody looks back. */
const over = [
  { table: 'request_key', since: 'made_at', age: '30 d' },
  { table: 'session', since: 'began_at', age: '24 h' },
  { table: 'upload', since: 'touched_at', age: '24 h' },
  { table: 'login_failure', since: 'last_at', age: '1 h' },
  { table: 'workflow_login', since: 'at', age: '1 h' },
  { table: 'workflow_grant', since: 'ended_at', age: '90 d' },
] as const

/** Deletes what nobody can ask for any more, and answers how much that was. */
export async function keepHouse(db: Kysely<Database>): Promise<number> {
  let gone = 0
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
