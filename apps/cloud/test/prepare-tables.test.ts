// Goal: a cell of a new release brings the tables along, and waits for a database that is away. Method: a real PostgreSQL with the tables of
// the release before, with those of one to come, and killed.
import assert from 'node:assert/strict'
import { cp, mkdtempDisposable, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { migrate, openDatabase } from '@skerry/postgres'
import { sql } from 'kysely'

import { beginPreparing, prepareTables } from '../src/commands/prepare-tables.ts'
import { startDatabases } from './cloud-database.ts'

const MIGRATIONS = join(import.meta.dirname, '../migrations')

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

/** The names of all that were applied to the tables of the cloud. */
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

test('tables of the release before are brought to this one, by several cells at once', async () => {
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

test('tables of a later release are left alone, with what to do', async () => {
  await using fresh = await freshDatabase(postgres)
  await prepareTables({ database: fresh.url })
  const db = openDatabase({ url: fresh.url, applicationName: 'test' })
  await sql`insert into migration (series, number, name, digest) values ('app', 9999, '9999-later.sql', '')`.execute(
    db,
  )
  await db.destroy()
  await assert.rejects(prepareTables({ database: fresh.url }), {
    message: 'the database is newer than this program: it has 9999-later.sql',
    hint: 'start the newer program, or restore the backup from before the upgrade',
  })
})

test('a cell starts while its database is away, and looks at the tables when that is back', async () => {
  await using fresh = await freshDatabase(postgres)
  await postgres.kill9()
  const said: string[] = []
  const stopped = new AbortController()
  const left = await beginPreparing(
    { database: fresh.url },
    {
      pause: (ms) => sleep(ms / 10),
      log: (message) => void said.push(message),
      stopped: stopped.signal,
    },
  )
  assert.deepEqual(said, ['the database is away: its tables are looked at when it is back'])
  const done = left()
  await postgres.restart()
  await done
  assert.deepEqual(await applied(fresh.url), (await readdir(MIGRATIONS)).sort())
})
