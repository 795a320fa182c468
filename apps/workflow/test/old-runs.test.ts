// Goal: ended runs and their records are deleted after the retention time, active runs are not. Method: a real database, in which
// runs are backdated.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { sql } from 'kysely'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import { deleteOldRuns } from '../src/store/old-runs.ts'
import { readRunFigures } from '../src/store/run-figures.ts'
import {
  openWorkflowDatabase,
  seedExecution,
  seedWorkflow,
  someone,
  type WorkflowDatabase,
  workflowTables,
} from './workflow-database.ts'

let postgres: Postgres & AsyncDisposable
let store: WorkflowDatabase
const alice = someone('eng')

before(async () => {
  postgres = await startDatabases(workflowTables)
  store = await openWorkflowDatabase(postgres)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

test('runs are deleted 90 days after their end, with their logs and child runs', async () => {
  const { db } = store
  const workflow = await seedWorkflow(store, alice, { name: 'old' })
  const add = async (days: number, state: string, parent?: string): Promise<string> => {
    const id = await seedExecution(store, alice, workflow)
    await sql`update execution set state = ${state}, parent = ${parent ?? null},
      request_key = ${parent === undefined ? null : id}, started_at = clock_timestamp() - make_interval(days => ${days}),
      ended_at = case when ${state} = 'running' then null else clock_timestamp() - make_interval(days => ${days}) end,
      grant_ended = ${state} <> 'running'
      where id = ${id}`.execute(db)
    await sql`insert into execution_log (org, execution, seq, at, severity, summary)
      values (${alice.org}, ${id}, 1000, clock_timestamp(), 'info', 'a line')`.execute(db)
    return id
  }
  const old = await add(91, 'completed')
  await add(91, 'failed', old)
  const young = await add(89, 'completed')
  const goesOn = await add(400, 'running')
  const outer = await add(91, 'canceled')
  const inner = await add(91, 'running', outer)
  assert.equal(await deleteOldRuns(db, 90), 1)
  const left = await db.selectFrom('execution').select('id').execute()
  assert.deepEqual(left.map(({ id }) => id).toSorted(), [young, goesOn, outer, inner].toSorted())
  const logs = await db.selectFrom('execution_log').select('execution').distinct().execute()
  assert.equal(logs.length, 4, 'logs are deleted with their runs')
  assert.equal(await deleteOldRuns(db, 90), 0)
  assert.equal(await deleteOldRuns(db, 30), 1, 'as configured')
  const [running] = (await readRunFigures(db)).filter(({ state }) => state === 'running')
  assert.equal(running?.count, 2)
  assert.ok((running?.oldestSeconds ?? 0) > 399 * 86_400)
})

test('a run whose grant may still be valid is kept until that has ended, and so is one with such a child run', async () => {
  const { db } = store
  const workflow = await seedWorkflow(store, alice, { name: 'granted' })
  const [outer, inner] = [
    await seedExecution(store, alice, workflow),
    await seedExecution(store, alice, workflow),
  ]
  const endGrant = (id: string) =>
    sql`update execution set grant_ended = true where id = ${id}`.execute(db)
  await sql`update execution set state = 'completed', ended_at = clock_timestamp() - interval '91 d',
    parent = case when id = ${inner} then ${outer}::uuid end, request_key = case when id = ${outer} then id::text end
    where id in (${outer}, ${inner})`.execute(db)
  assert.equal(await deleteOldRuns(db, 90), 0)
  await endGrant(outer)
  assert.equal(await deleteOldRuns(db, 90), 0)
  await endGrant(inner)
  assert.equal(await deleteOldRuns(db, 90), 1)
})

test('one call deletes several batches, and only one server works at a time', async () => {
  const { db } = store
  const workflow = await seedWorkflow(store, alice, { name: 'many' })
  for (let n = 0; n < 250; n += 1) await seedExecution(store, alice, workflow)
  await sql`update execution set state = 'completed', ended_at = clock_timestamp() - interval '91 d', grant_ended = true
    where workflow = ${workflow.id}`.execute(db)
  const gone = await Promise.all([deleteOldRuns(db, 90), deleteOldRuns(db, 90)])
  assert.equal(gone[0] + gone[1], 250)
})
