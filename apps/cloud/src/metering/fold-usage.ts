import { sql, type Kysely } from 'kysely'

import type { CloudTables, Tx } from '../database/tables.ts'
import { sumUsage, usageColumns } from './sum-usage.ts'

/** How long after its end an hour is summed up: the default of a row is computed before its transaction has an id. */
const GRACE = '1 min'
const HOUR_MS = 3_600_000

/**
 * Sums up every hour that is over, one in each transaction, and returns their number. An hour waits for the transactions that were open at
 * its end: a span that ends within it is never missing. Any number of cells may call it at once; one of them works.
 */
export async function foldUsage(db: Kysely<CloudTables>): Promise<number> {
  let folded = 0
  if (!(await db.transaction().execute(closeHours))) return folded
  while (await db.transaction().execute(foldHour)) folded += 1
  return folded
}

/** Notes the transactions that may still write a span of an hour that is over. False: there is no such hour, or another cell works. */
async function closeHours(tx: Tx): Promise<boolean> {
  // After a restore in another cluster, transactions have lower ids than the one that is stored.
  const isClosed = sql`closed_at >= until + interval '1 h' and closed_tx < pg_snapshot_xmax(pg_current_snapshot())`
  const over = sql`usage_clock() - ${GRACE}::interval`
  const { rows } = await sql`
    update usage_folded set closed_at = case when ${isClosed} then closed_at else ${over} end,
      closed_tx = case when ${isClosed} then closed_tx else pg_current_xact_id() end
    where single in (select single from usage_folded where until + interval '1 h' <= ${over} for no key update skip locked)
    returning single`.execute(tx)
  return rows.length === 1
}

/** The first hour that is not summed up yet, if it is over, and with it all transactions that could write a span of it. */
export async function foldHour(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ hour: Date }>`
    select until as hour from usage_folded
    where closed_at >= until + interval '1 h' and closed_tx < pg_snapshot_xmin(pg_current_snapshot())
    for no key update skip locked`.execute(tx)
  const hour = rows[0]?.hour
  if (!hour) return false
  await writeHour(tx, hour)
  await sql`update usage_folded set until = until + interval '1 h'`.execute(tx)
  return true
}

/** In one statement. A repetition writes the same rows. */
export async function writeHour(tx: Tx, hour: Date): Promise<void> {
  const columns = sql.join(usageColumns.map((name) => sql.ref(name)))
  const first = sql`${hour}::timestamptz`
  const past = sql`${new Date(hour.getTime() + HOUR_MS)}::timestamptz`
  // Compiling the query takes longer than it saves.
  await sql`set local jit = off`.execute(tx)
  await sql`insert into usage_hour (org, hour, ${columns})
    select org, ${first}, ${columns} from (${sumUsage({ first, past })}) used
    on conflict (org, hour) do update set ${sql.join(
      usageColumns.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
    )}`.execute(tx)
}
