// Goal: a cell of a new release migrates the tables, and waits for an unreachable database. Method: a real PostgreSQL with the tables of
// the previous release, with those of a later one, and killed.
import assert from 'node:assert/strict'
import { cp, mkdtempDisposable, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { sql } from 'kysely'

import { migrate } from '../../../packages/postgres/src/migrate.ts'
import { beginPreparing, prepareTables } from '../src/command-line/prepare-tables.ts'
import { cellLogins } from '../src/database/acting-as.ts'
import { startDatabases } from './cloud-database.ts'

const MIGRATIONS = join(import.meta.dirname, '../migrations')

let postgres: Postgres
before(async () => {
  postgres = await startDatabases('nothing')
})
after(() => postgres[Symbol.asyncDispose]())

/** The names of all applied migrations of the cloud. */
async function applied(url: string): Promise<string[]> {
  const db = openDatabase({ url, applicationName: 'test' })
  try {
    const { rows } = await sql<{ name: string }>`
      select name from migration where series = 'app' order by number`.execute(db)
    return rows.map(({ name }) => name)
  } finally {
    await db.destroy()
  }
}

test('several cells at once migrate the tables of the previous release', async () => {
  await using fresh = await freshDatabase(postgres)
  await using earlier = await mkdtempDisposable(join(tmpdir(), 'skerry-release-'))
  const all = (await readdir(MIGRATIONS)).sort()
  await cp(MIGRATIONS, earlier.path, { recursive: true })
  await rm(join(earlier.path, all.at(-1) ?? ''))
  const db = openDatabase({ url: fresh.url, applicationName: 'test' })
  await migrate(db, earlier.path)
  await db.destroy()
  assert.deepEqual(await applied(fresh.url), all.slice(0, -1))
  const cells = [1, 2, 3].map(() => prepareTables({ database: fresh.url }))
  await Promise.all(cells)
  assert.deepEqual(await applied(fresh.url), all)
})

test('tables of a later release are not changed, and the error has a hint', async () => {
  await using fresh = await freshDatabase(postgres)
  await prepareTables({ database: fresh.url })
  const db = openDatabase({ url: fresh.url, applicationName: 'test' })
  await sql`insert into migration (series, number, name, digest) values ('app', 9999, '9999-later.sql', '')`.execute(
    db,
  )
  await db.destroy()
  await assert.rejects(prepareTables({ database: fresh.url }), {
    message: 'the database is newer than this program: it has the migration 9999-later.sql',
    hint: 'start the newer program, or restore the backup from before the upgrade',
  })
})

test('a cell starts while its database is unreachable, and migrates the tables when it is back', async () => {
  await using fresh = await freshDatabase(postgres)
  await postgres.kill9()
  const said: string[] = []
  const stopped = new AbortController()
  const left = await beginPreparing(
    { database: fresh.url, logins: cellLogins({ database: fresh.url, cell: 'cell-1' }, 'key') },
    {
      pause: (ms) => sleep(ms / 10),
      log: (message) => void said.push(message),
      stopped: stopped.signal,
    },
  )
  assert.deepEqual(said, ['the database is unreachable; the tables are migrated when it is back'])
  const done = left()
  await postgres.restart()
  await done
  assert.deepEqual(await applied(fresh.url), (await readdir(MIGRATIONS)).sort())
})
