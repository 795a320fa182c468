import { sql, type Kysely } from 'kysely'

/** Checks that the database answers. */
export async function ping<DB>(db: Kysely<DB>): Promise<void> {
  await sql`select 1`.execute(db)
}
