import { migrate } from './migrate.ts'
import { openDatabase, type DatabaseOptions } from './open.ts'

/** Migrates with one connection, as the owner of the tables, and closes it. */
export async function prepareDatabase(
  owner: Pick<DatabaseOptions, 'url' | 'applicationName'>,
  directory: string,
): Promise<void> {
  const db = openDatabase({ ...owner, size: 1 })
  try {
    await migrate(db, directory)
  } finally {
    await db.destroy()
  }
}
