import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'

export interface ConsoleMachine {
  readonly name: string
  /** The DNS name or address that browsers reach it by. */
  readonly host: string
  readonly login: string
}

/** Written down when it is made; made again by the same name it is the same one. */
export async function keepConsoleMachine(
  db: Kysely<Database>,
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
  db: Kysely<Database>,
  name: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('console_machine')
    .select('host')
    .where('name', '=', name)
    .executeTakeFirst()
  return found?.host
}

/**
 * A login that is a member of skerry_console and of nothing else; one that is there gets another password. `verifier` is what the
 * database keeps of the password. For whoever may make roles: the owner of the tables.
 */
export async function keepConsoleLogin(
  owner: Kysely<Database>,
  login: string,
  verifier: string,
): Promise<void> {
  await owner.transaction().execute(async (tx) => {
    const { rows } = await sql`select from pg_roles where rolname = ${login}`.execute(tx)
    const verb = sql.raw(rows.length === 0 ? 'create' : 'alter')
    await sql`${verb} role ${sql.id(login)} login nosuperuser nocreatedb nocreaterole noreplication
      password ${sql.lit(verifier)}`.execute(tx)
    await sql`grant skerry_console to ${sql.id(login)}`.execute(tx)
  })
}
