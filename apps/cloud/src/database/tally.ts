import { sql, type Kysely } from 'kysely'

import type { CloudTables } from './tables.ts'

/** Folds recorded changes into the totals and returns their number. Counts are exact with or without it. */
export async function foldTally(db: Kysely<CloudTables>): Promise<number> {
  const { rows } = await sql<{ folded: string }>`select vm_tally_fold() as folded`.execute(db)
  return Number(rows[0]?.folded ?? 0)
}
