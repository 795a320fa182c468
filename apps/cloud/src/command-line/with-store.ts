import { CLOUD_CONFIG, type Args } from '@skerry/command-line'
import { openDatabase } from '@skerry/postgres'
import type { Kysely } from 'kysely'

import { readConfig, type CloudConfig } from '../config.ts'
import { actingAs } from '../database/acting-as.ts'
import type { CloudTables } from '../database/tables.ts'
import { maybe } from './command.ts'

export const configFile = (requested: Args): string => maybe(requested, 'config') ?? CLOUD_CONFIG

/** Opens the database of a cell for the duration of the work. */
export async function withDatabase<T>(
  { database }: Pick<CloudConfig, 'database'>,
  work: (db: Kysely<CloudTables>) => Promise<T>,
): Promise<T> {
  const url = actingAs(database, 'skerry_system')
  const db = openDatabase<CloudTables>({ url, applicationName: 'skerry admin', size: 2 })
  try {
    return await work(db)
  } finally {
    await db.destroy()
  }
}

export async function withStore<T>(
  requested: Args,
  work: (db: Kysely<CloudTables>, config: CloudConfig) => Promise<T>,
): Promise<T> {
  const config = await readConfig(configFile(requested))
  return withDatabase(config, (db) => work(db, config))
}
