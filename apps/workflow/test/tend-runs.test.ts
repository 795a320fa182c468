// Goal: unfinished work of a run after a crash is completed. Method: rows as a crash leaves them, then one pass.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import type { Postgres } from '@skerry/lab'
import { sql } from 'kysely'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import { tendOnce, type RunSupervisorContext } from '../src/runs/tend-runs.ts'
import { failExecution, findExecution, keepGrant, markCanceled } from '../src/store/executions.ts'
import { record } from '../src/store/record.ts'
import { simulatedCloud, simulatedRuns } from './simulated-cloud.ts'
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
const principal = someone('eng')
const FIRST = '00000000-0000-0000-0000-000000000000'

before(async () => {
  postgres = await startDatabases(workflowTables)
  store = await openWorkflowDatabase(postgres)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const open = () => {
  const runs = simulatedRuns()
  const { grants } = simulatedCloud()
  const tending: RunSupervisorContext = {
    db: store.db,
    runs,
    grants,
    log: () => undefined,
    pause: async () => undefined,
  }
  return { runs, grants, look: () => tendOnce(tending, FIRST) }
}

const age = (execution: string, minutes: number) =>
  sql`update execution set started_at = clock_timestamp() - make_interval(mins => ${minutes})
    where id = ${execution}`.execute(store.db)
const stateOf = async (execution: string) => (await findExecution(store.db, execution))?.state
const seed = async (name: string) =>
  seedExecution(store, principal, await seedWorkflow(store, principal, { name }))

test('an unstarted run is started later, once, and a run without authorization is ended', async () => {
  const { runs, look } = open()
  const [fresh, left, ungranted] = [
    await seed('fresh'),
    await seed('left'),
    await seed('ungranted'),
  ]
  await age(left, 1)
  await age(ungranted, 1)
  await sql`update execution set grant_id = null where id = ${ungranted}`.execute(store.db)
  await look()
  assert.deepEqual(runs.started, [left])
  assert.equal(await stateOf(fresh), 'initializing')
  assert.equal(await stateOf(ungranted), 'failed')
})

test('a run without a grant whose request can be repeated waits two minutes for that request', async () => {
  const { look } = open()
  const keyed = await seed('keyed')
  await sql`update execution set grant_id = null, request_key = 'key' where id = ${keyed}`.execute(
    store.db,
  )
  await age(keyed, 1)
  await look()
  assert.equal(await stateOf(keyed), 'initializing')
  await age(keyed, 3)
  await look()
  assert.equal(await stateOf(keyed), 'failed')
})

test('the grant of an ended run is ended, also if the run never got to know it', async () => {
  const { grants, look } = open()
  const ask = (id: string) =>
    grants.ask({ id, org: principal.org, account: principal.account, kind: 'run' })
  const [lost, ended, going] = [
    await seed('never granted'),
    await seed('ended'),
    await seed('going'),
  ]
  for (const id of [lost, ended, going]) await ask(id)
  await sql`update execution set grant_id = null where id = ${lost}`.execute(store.db)
  await sql`update execution set grant_id = id::text where id in (${ended}, ${going})`.execute(
    store.db,
  )
  await age(lost, 1)
  await record(store.db, { execution: ended, state: 'completed', steps: [], asks: [] })
  await look()
  assert.equal(await stateOf(lost), 'failed')
  // The run itself has the first say.
  assert.deepEqual([...grants.alive].toSorted(), [lost, ended, going].toSorted())
  await sql`update execution set ended_at = ended_at - interval '1 min' where ended_at is not null`.execute(
    store.db,
  )
  await look()
  assert.deepEqual([...grants.alive], [going])
  grants.alive.add(ended)
  await look()
  assert.ok(grants.alive.has(ended), 'an end that was confirmed is not repeated')
})

test('a run that was ended while the cloud was asked for its grant does not get it', async () => {
  const run = { org: principal.org, id: await seed('late') }
  await sql`update execution set grant_id = null where id = ${run.id}`.execute(store.db)
  await failExecution(store.db, run, 'the server stopped before the run started')
  await assert.rejects(keepGrant(store.db, run, run.id), { kind: 'gone' })
  assert.equal((await findExecution(store.db, run.id))?.grant_id, null)
})

test('a cancellation that did not reach Temporal is repeated until the run has ended', async () => {
  const { runs, look } = open()
  const run = await seed('canceled')
  await record(store.db, { execution: run, state: 'running', steps: [], asks: [] })
  await store.as(principal, (tx) => markCanceled(tx, { org: principal.org, id: run }))
  await look()
  assert.deepEqual(runs.canceled, [run])
  await record(store.db, { execution: run, state: 'canceled', steps: [], asks: [] })
  await look()
  assert.equal(runs.canceled.length, 1)
})

test('a run unknown to Temporal fails as lost; while Temporal is unavailable nothing is ended', async () => {
  const { runs, look } = open()
  const [known, lost] = [await seed('known'), await seed('lost')]
  for (const execution of [known, lost]) {
    await record(store.db, { execution, state: 'running', steps: [], asks: [] })
    await age(execution, 10)
  }
  runs.started.push(known)
  runs.away = true
  await assert.rejects(look())
  assert.equal(await stateOf(lost), 'running')
  runs.away = false
  await look()
  assert.deepEqual([await stateOf(known), await stateOf(lost)], ['running', 'failed'])
  const { error } = (await findExecution(store.db, lost)) ?? assert.fail()
  assert.equal(error?.detail, 'Temporal lost the run')
})
