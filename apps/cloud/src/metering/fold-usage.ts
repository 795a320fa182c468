import { tookTooLong } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables, Tx } from '../database/tables.ts'
import { isAmong, sumUsage, usageColumns, type OrgRange } from './sum-usage.ts'

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

/**
 * Writes what organisations used in an hour. A repetition writes the same rows. In one statement, or, when that takes longer than a
 * statement may, in one for each half of the organisations.
 */
export async function writeHour(tx: Tx, hour: Date, orgs: OrgRange = {}): Promise<void> {
  // Compiling the query takes longer than it saves.
  await sql`set local jit = off`.execute(tx)
  await sql`savepoint part`.execute(tx)
  try {
    await writeSums(tx, hour, orgs)
    await sql`release savepoint part`.execute(tx)
  } catch (error) {
    if (!tookTooLong(error)) throw error
    await sql`rollback to savepoint part`.execute(tx)
    const middle = await middleOf(tx, orgs)
    if (middle === undefined) throw error
    await writeHour(tx, hour, { ...orgs, past: middle })
    await writeHour(tx, hour, { ...orgs, first: middle })
  }
}

async function writeSums(tx: Tx, hour: Date, org: OrgRange): Promise<void> {
  const columns = sql.join(usageColumns.map((name) => sql.ref(name)))
  const first = sql`${hour}::timestamptz`
  const past = sql`${new Date(hour.getTime() + HOUR_MS)}::timestamptz`
  await sql`insert into usage_hour (org, hour, ${columns})
    select org, ${first}, ${columns} from (${sumUsage({ first, past, org })}) used
    on conflict (org, hour) do update set ${sql.join(
      usageColumns.map((name) => sql`${sql.ref(name)} = excluded.${sql.ref(name)}`),
    )}`.execute(tx)
}

/** The organisation with which the second half of a range begins. Undefined: it has fewer than two. */
async function middleOf(tx: Tx, orgs: OrgRange): Promise<OrgId | undefined> {
  const { rows } = await sql<{ middle: OrgId }>`
    select id as middle from (select id, row_number() over (order by id) - 1 as place, count(*) over () as all_orgs
      from org where ${isAmong('id', orgs)}) counted
    where all_orgs > 1 and place = all_orgs / 2`.execute(tx)
  return rows[0]?.middle
}
