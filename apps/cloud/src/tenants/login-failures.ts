import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

/** This many failures cost no wait. Each further one doubles the wait, starting at one second. */
export const FREE_FAILURES = 5
export const LONGEST_WAIT_SECONDS = 900
/** Failures older than this are forgotten. */
const MEMORY = sql`interval '1 h'`

/** How many seconds this key is blocked, and whether any failures are recorded. */
export async function readFailures(
  db: Kysely<CloudTables>,
  key: Buffer,
): Promise<{ readonly wait: number; readonly any: boolean }> {
  const { rows } = await sql<{ wait: number }>`
    select greatest(0, ceil(extract(epoch from until - clock_timestamp())))::integer as wait
    from login_failure where key = ${key}`.execute(db)
  const [row] = rows
  return { wait: row?.wait ?? 0, any: row !== undefined }
}

export async function recordFailure(db: Kysely<CloudTables>, key: Buffer): Promise<void> {
  const free = sql.lit(FREE_FAILURES)
  const wait = (failures: ReturnType<typeof sql>) => sql`clock_timestamp() + make_interval(secs =>
    case when ${failures} < ${free} then 0
      else least(${sql.lit(LONGEST_WAIT_SECONDS)}, power(2, least(${failures} - ${free}, 30))) end)`
  const counted = sql`(case when kept.last_at < clock_timestamp() - ${MEMORY} then 1 else kept.failures + 1 end)`
  await sql`insert into login_failure as kept (key, failures, last_at, until)
    values (${key}, 1, clock_timestamp(), clock_timestamp())
    on conflict (key) do update set failures = ${counted}, last_at = clock_timestamp(),
      until = ${wait(counted)}`.execute(db)
}

export async function forgiveFailures(db: Kysely<CloudTables>, key: Buffer): Promise<void> {
  await db.deleteFrom('login_failure').where('key', '=', key).execute()
}
