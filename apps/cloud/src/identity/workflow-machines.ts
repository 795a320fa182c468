import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

/** Inserts or updates the row of a workflow server; the same name means the same server. `host`: its address for clients. */
export async function keepWorkflowMachine(
  db: Kysely<CloudTables>,
  { name, host }: { readonly name: string; readonly host: string },
): Promise<void> {
  await db
    .insertInto('workflow_machine')
    .values({ name, host })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ host }))
    .execute()
}

export async function hostOfWorkflow(
  db: Kysely<CloudTables>,
  name: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('workflow_machine')
    .select('host')
    .where('name', '=', name)
    .executeTakeFirst()
  return found?.host
}
