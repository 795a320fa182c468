import type { OrgId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'
import { sumUsage, usageColumns, type UsageColumn } from './sum-usage.ts'
import { periodsIn, type UsageInterval, type UsageRange } from './usage-range.ts'

/** Units times milliseconds. */
export type UsageSums = Readonly<Record<UsageColumn, bigint>>

export interface UsagePeriod extends UsageInterval {
  /** Whether all its hours are summed up: it does not change any more. */
  readonly isComplete: boolean
  readonly sums: UsageSums
}

type SumRow = Readonly<Record<UsageColumn, string>>

/** What an organisation used: hours that are summed up as they are stored, later ones from what is metered, up to now. */
export async function readUsagePeriods(
  tx: Tx,
  org: OrgId,
  range: UsageRange,
): Promise<readonly UsagePeriod[]> {
  const { rows } = await sql<{ until: Date; now: Date }>`
    select until, usage_now() as now from usage_folded`.execute(tx)
  const [{ until, now } = { until: range.from, now: range.from }] = rows
  const stored = await readStored(tx, org, range, until)
  const periods: UsagePeriod[] = []
  for (const period of periodsIn(range).filter(({ from }) => from < now)) {
    const known = stored.get(period.from.getTime()) ?? noSums
    const isComplete = period.to <= until
    const rest = { from: latest(period.from, until), to: earliest(period.to, now) }
    const sums = isComplete ? known : added(known, await readLive(tx, org, rest))
    periods.push({ ...period, isComplete, sums })
  }
  return periods
}

/** Sums over stored hours, by the begin of their period. */
async function readStored(
  tx: Tx,
  org: OrgId,
  { from, to, by }: UsageRange,
  until: Date,
): Promise<ReadonlyMap<number, UsageSums>> {
  const sums = usageColumns.map((name) => sql`sum(${sql.ref(name)})::text as ${sql.ref(name)}`)
  const { rows } = await sql<SumRow & { readonly period: Date }>`
    select greatest(date_trunc(${by}, hour, 'UTC'), ${from}) as period, ${sql.join(sums)} from usage_hour
    where org = ${org} and hour >= ${from} and hour < ${earliest(to, until)} group by 1`.execute(tx)
  return new Map(rows.map((row) => [row.period.getTime(), sumsOf(row)]))
}

async function readLive(tx: Tx, org: OrgId, { from, to }: UsageInterval): Promise<UsageSums> {
  // Compiling the query takes longer than it saves.
  await sql`set local jit = off`.execute(tx)
  const first = sql`${from}::timestamptz`
  const { rows } =
    await sql<SumRow>`${sumUsage({ first, past: sql`${to}::timestamptz`, org })}`.execute(tx)
  return rows[0] ? sumsOf(rows[0]) : noSums
}

const sumsBy = (value: (name: UsageColumn) => bigint): UsageSums =>
  Object.fromEntries(usageColumns.map((name) => [name, value(name)])) as Record<UsageColumn, bigint>
const noSums = sumsBy(() => 0n)
const sumsOf = (row: SumRow): UsageSums => sumsBy((name) => BigInt(row[name]))
const added = (a: UsageSums, b: UsageSums): UsageSums => sumsBy((name) => a[name] + b[name])

const latest = (a: Date, b: Date): Date => (a > b ? a : b)
const earliest = (a: Date, b: Date): Date => (a < b ? a : b)
