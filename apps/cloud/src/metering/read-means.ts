import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { meters } from './meters.ts'
import { usageColumns, type UsageColumn } from './sum-usage.ts'

/** What organisations had on average in the last hour that is summed up, for the metrics. */
export interface UsageMeans {
  /** Since the end of that hour. */
  readonly summedUpSeconds: number
  readonly means: readonly {
    /** Its id: metrics contain no names of tenants. */
    readonly org: string
    readonly meter: string
    /** In units, or in GiB. */
    readonly mean: number
  }[]
}

const HOUR_MS = 3_600_000

export async function readUsageMeans(db: Kysely<CloudTables>): Promise<UsageMeans> {
  const columns = sql.join(usageColumns.map((name) => sql`${sql.ref(name)}::float8`))
  const { rows } = await sql<
    Readonly<Record<UsageColumn, number | null>> & {
      readonly seconds: number
      readonly org: string | null
    }
  >`select extract(epoch from usage_now() - until)::float8 as seconds, org, ${columns}
    from usage_folded left join usage_hour on hour = until - interval '1 h'`.execute(db)
  return {
    summedUpSeconds: rows[0]?.seconds ?? 0,
    means: rows.flatMap(({ org, ...sums }) =>
      meters.flatMap(({ column, sku: meter, unit }) => {
        const sum = sums[column] ?? 0
        const per = unit === 'GiB-Hours' ? HOUR_MS * 1024 : HOUR_MS
        return org === null || sum === 0 ? [] : [{ org, meter, mean: sum / per }]
      }),
    ),
  }
}
