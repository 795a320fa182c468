import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

export interface ConsoleMachine {
  readonly name: string
  /** The DNS name or address that browsers use. */
  readonly host: string
  readonly login: string
}

/** Inserts or updates the row of a console server; the same name means the same server. */
export async function keepConsoleMachine(
  db: Kysely<CloudTables>,
  machine: ConsoleMachine,
): Promise<void> {
  const { host, login } = machine
  await db
    .insertInto('console_machine')
    .values({ ...machine })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ host, login }))
    .execute()
}

export async function hostOfConsole(
  db: Kysely<CloudTables>,
  name: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('console_machine')
    .select('host')
    .where('name', '=', name)
    .executeTakeFirst()
  return found?.host
}
