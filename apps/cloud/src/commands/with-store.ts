import { openDatabase } from '@skerry/postgres'
import type { Kysely } from 'kysely'

import { CONFIG, maybe, type Asked } from '../command.ts'
import { readConfig, type Config } from '../config.ts'
import { actingAs } from '../store/acting-as.ts'
import type { Database } from '../store/database.ts'

export const configFile = (asked: Asked): string => maybe(asked, 'config') ?? CONFIG

/** Opens the database of a cell for as long as the work takes. */
export async function withDatabase<T>(
  { database }: Pick<Config, 'database'>,
  work: (db: Kysely<Database>) => Promise<T>,
): Promise<T> {
  const url = actingAs(database, 'skerry_system')
  const db = openDatabase<Database>({ url, applicationName: 'skerry cloud', size: 2 })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

export async function withStore<T>(
  asked: Asked,
  work: (db: Kysely<Database>, config: Config) => Promise<T>,
): Promise<T> {
  const config = await readConfig(configFile(asked))
  return withDatabase(config, (db) => work(db, config))
}
