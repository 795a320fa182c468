// Goal: rows that cells stored before a migration mean the same after it. Method: the tables of 0001 with such rows, without
// foreign keys and triggers, then every later migration.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { freshDatabase, type Postgres } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import { sql } from 'kysely'

import { startDatabases } from './cloud-database.ts'

const MIGRATIONS = join(import.meta.dirname, '../migrations')
const FENCES = join(import.meta.dirname, '../../../packages/postgres/migrations')

let postgres: Postgres
before(async () => {
  postgres = await startDatabases('nothing')
})
after(() => postgres[Symbol.asyncDispose]())

const rows = `
  set session_replication_role = replica;
  insert into task (org, vapp, owner, operation, object_name)
    select gen_random_uuid(), gen_random_uuid(), 'alice', operation, operation
    from unnest(array['create', 'clone', 'hold', 'delete', 'powerOn']) operation;
  insert into pending_undo (host, vm, incarnation, task, goal)
    select gen_random_uuid(), gen_random_uuid(), 1, gen_random_uuid(), goal::jsonb
    from unnest(array['{"be":"gone"}', '{"be":"power","to":"off"}', '{"be":"defined","deed":{"cpus":1}}',
      '{"be":"discarded"}', '{"be":"unsnapshotted"}']) goal;
  set session_replication_role = origin;
`

test('tasks get their kind, and pending undos the names of the host API', async () => {
  await using fresh = await freshDatabase(postgres)
  const db = openDatabase<unknown>({ url: fresh.url, applicationName: 'test', size: 1 })
  try {
    const apply = async (directory: string, file: string) =>
      sql.raw(await readFile(join(directory, file), 'utf8')).execute(db)
    for (const file of (await readdir(FENCES)).toSorted()) await apply(FENCES, file)
    const [first = '', ...later] = (await readdir(MIGRATIONS)).toSorted()
    await apply(MIGRATIONS, first)
    await sql.raw(rows).execute(db)
    for (const file of later) await apply(MIGRATIONS, file)
    const tasks = await sql<{
      operation: string
      kind: string
    }>`select operation, kind from task`.execute(db)
    assert.deepEqual(Object.fromEntries(tasks.rows.map((row) => [row.operation, row.kind])), {
      create: 'create',
      clone: 'copy',
      hold: 'hold',
      delete: 'delete',
      powerOn: 'change',
    })
    const undos = await sql<{ goal: object }>`select goal from pending_undo`.execute(db)
    assert.deepEqual(undos.rows.map(({ goal }) => JSON.stringify(goal)).toSorted(), [
      '{"goal":"defined","spec":{"cpus":1}}',
      '{"goal":"gone"}',
      '{"goal":"noSavedState"}',
      '{"goal":"noSnapshots"}',
      '{"to":"off","goal":"power"}',
    ])
  } finally {
    await db.destroy()
  }
})
