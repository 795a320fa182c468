import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'

/** Adds what has changed to the totals, and answers how many changes that were. They are exact whether anybody does it or not. */
export async function foldTally(db: Kysely<Database>): Promise<number> {
  const { rows } = await sql<{ folded: string }>`select vm_tally_fold() as folded`.execute(db)
  return Number(rows[0]?.folded ?? 0)
}
