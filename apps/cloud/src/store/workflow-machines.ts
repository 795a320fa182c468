import type { Kysely } from 'kysely'

import type { Database } from './database.ts'

/** Written down when it is made; made again by the same name it is the same one. `host`: where clients reach it. */
export async function keepWorkflowMachine(
  db: Kysely<Database>,
  { name, host }: { readonly name: string; readonly host: string },
): Promise<void> {
  await db
    .insertInto('workflow_machine')
    .values({ name, host })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ host }))
    .execute()
}

export async function hostOfWorkflow(
  db: Kysely<Database>,
  name: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('workflow_machine')
    .select('host')
    .where('name', '=', name)
    .executeTakeFirst()
  return found?.host
}
