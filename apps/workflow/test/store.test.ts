// Goal: stored data stays correct: versions never change, progress reports in any order give the same state, tenants are isolated.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import type { Postgres } from '@skerry/lab'
import type { RunProgress } from '@skerry/serverless-workflow'
import { sql } from 'kysely'

import { startDatabases } from '../../cloud/test/cloud-database.ts'
import { gapsIn, readTables } from '../../cloud/test/organisation-tables.ts'
import { addChildRun, addScheduledRun } from '../src/store/begun-runs.ts'
import {
  addExecution,
  findExecution,
  listExecutions,
  listSteps,
  recentExecutions,
} from '../src/store/executions.ts'
import { closeInteraction, listInteractions, openInteraction } from '../src/store/interactions.ts'
import { loadRun, loadSecret } from '../src/store/load-run.ts'
import { listLogs } from '../src/store/logs.ts'
import { record } from '../src/store/record.ts'
import { deleteSchedule, pauseSchedule } from '../src/store/schedules.ts'
import {
  openWorkflowDatabase,
  orgs,
  seedExecution,
  seedSchedule,
  seedWorkflow,
  someone,
  type WorkflowDatabase,
  workflowTables,
} from './workflow-database.ts'

let postgres: Postgres & AsyncDisposable
let store: WorkflowDatabase
const [alice, bob] = [someone('eng'), someone('ops')]

before(async () => {
  postgres = await startDatabases(workflowTables)
  store = await openWorkflowDatabase(postgres)
})
after(async () => {
  await store[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

const isFault = (kind: Fault['kind']) => (error: unknown) =>
  error instanceof Fault && error.kind === kind

test('every tenant table has row-level security, and no key bypasses it', async () => {
  const tables = await readTables(store.db, 'skerry_workflow_tenant')
  assert.ok(tables.length >= 9, `${tables.length} tables`)
  assert.deepEqual(gapsIn(tables), [])
})

test('an organisation sees its own rows in every table, and none of another', async () => {
  const made = await seedWorkflow(store, bob, { name: 'theirs' })
  const run = await seedExecution(store, bob, made)
  await record(
    store.db,
    progress(run, 'waiting', [note(1, '/a', 'began')], {
      asks: [{ id: 'x', place: '/a', question }],
    }),
  )
  for (const table of await readTables(store.db, 'skerry_workflow_tenant')) {
    if (table.name === 'execution_secret' || table.name === 'schedule') continue
    const seen = (principal: typeof alice) =>
      store.as(principal, async (tx) => {
        const { rows } = await sql<{ org: string }>`
          select distinct org from ${sql.table(table.name)}`.execute(tx)
        return rows.map(({ org }) => org)
      })
    assert.deepEqual(await seen(bob), [orgs.ops], table.name)
    assert.ok(!(await seen(alice)).includes(orgs.ops), table.name)
  }
})

test('a tenant can write the secret of a run but not read it back', async () => {
  const workflow = await seedWorkflow(store, alice, { name: 'secretive' })
  const id = randomUUID()
  const sealed = Buffer.from('sealed')
  await store.as(alice, (tx) =>
    addExecution(tx, alice, {
      id,
      workflow: { ...workflow, org: alice.org },
      input: { word: { 'skerry.secure': 'word' } },
      secrets: new Map([['word', sealed]]),
      requestKey: undefined,
      most: 10,
    }),
  )
  await assert.rejects(
    store.as(alice, (tx) => tx.selectFrom('execution_secret').selectAll().execute()),
    /permission denied/,
  )
  assert.deepEqual(await loadSecret(store.db, id, 'word'), sealed)
  await record(store.db, progress(id, 'completed', [], { output: {} }))
  await assert.rejects(loadSecret(store.db, id, 'word'), isFault('gone'))
})

const note = (
  number: number,
  place: string,
  what: RunProgress['steps'][number]['what'],
): RunProgress['steps'][number] => ({
  number,
  at: 1_700_000_000_000 + number,
  place,
  name: place.slice(1),
  what,
})
const progress = (
  execution: string,
  state: RunProgress['state'],
  steps: RunProgress['steps'],
  more: Partial<RunProgress> = {},
): RunProgress => ({ execution, state, steps, asks: [], ...more })
const question = { title: 'go on?', form: { type: 'object' } }

test('late or repeated progress changes nothing, and an ended run stays ended', async () => {
  const run = await seedExecution(store, alice, await seedWorkflow(store, alice, { name: 'told' }))
  const reported = [
    progress(run, 'running', [note(1, '/a', 'began')]),
    progress(run, 'running', [note(2, '/a', 'ended'), note(3, '/b', 'began')]),
    progress(run, 'waiting', [note(4, '/b', 'again')], {
      asks: [{ id: 'x', place: '/b', question }],
    }),
    progress(run, 'completed', [note(5, '/b', 'ended')], {
      output: { answer: 42, odd: '\0\ud800' },
    }),
  ]
  for (const at of [0, 1, 0, 1, 2, 2, 3, 0, 2, 3]) {
    await record(store.db, reported[at] ?? assert.fail())
  }
  const row = (await findExecution(store.db, run)) ?? assert.fail()
  assert.deepEqual(
    [row.state, row.output, row.logs],
    ['completed', { answer: 42, odd: '\u{FFFD}\u{FFFD}' }, 5],
  )
  assert.ok(row.ended_at)
  assert.deepEqual(await listSteps(store.db, row), [
    { place: '/a', state: 'done', times: 1 },
    { place: '/b', state: 'done', times: 1 },
  ])
  assert.equal((await listInteractions(store.db, { execution: run, open: true }, 9)).length, 0)
  await record(store.db, progress(run, 'failed', [], { error: { type: 'x', status: 500 } }))
  assert.equal((await findExecution(store.db, run))?.state, 'completed')
  await record(store.db, progress(randomUUID(), 'running', []))
})

test('log lines keep their order and are bounded, and the last one reports dropped lines', async () => {
  const run = await seedExecution(store, alice, await seedWorkflow(store, alice, { name: 'loud' }))
  for (let part = 0; part < 11; part++) {
    const steps = Array.from({ length: 1000 }, (_, at) =>
      note(part * 1000 + at + 1, '/a\0', 'began'),
    )
    await record(store.db, progress(run, 'running', steps))
  }
  const row = (await findExecution(store.db, run)) ?? assert.fail()
  const requested = { severity: undefined, since: undefined, after: undefined, limit: 100_000 }
  const lines = await listLogs(store.db, row, requested)
  assert.equal(lines.length, 10_000)
  assert.equal(lines.at(-1)?.summary, 'log limit reached: further lines are dropped')
  assert.equal(lines[1]?.summary, 'a\u{FFFD} began')
  const after = await listLogs(store.db, row, { ...requested, after: 9_998, limit: 10 })
  assert.equal(after.length, 2)
  const warnings = await listLogs(store.db, row, { ...requested, severity: 'warning' })
  assert.equal(warnings.length, 1)
})

test('child runs and scheduled runs are created once per key', async () => {
  const outer = await seedWorkflow(store, alice, { name: 'outer' })
  const inner = await seedWorkflow(store, alice, { name: 'inner', version: '2.0.0' })
  const parent = await seedExecution(store, alice, outer)
  await sql`insert into execution_secret (org, execution, name, sealed)
    values (${alice.org}, ${parent}, 'word', 'shh'), (${alice.org}, ${parent}, 'other', 'no')`.execute(
    store.db,
  )
  const requested = {
    parent,
    key: '/do/0',
    namespace: 'test',
    name: 'inner',
    version: 'latest',
    input: { a: { 'skerry.secure': 'word' } },
    secrets: new Set(['word', 'none']),
    reseal: (sealed: Buffer, child: string, name: string) =>
      Buffer.from(`${sealed.toString()} ${child}/${name}`),
  }
  const [first, again] = [
    await addChildRun(store.db, requested),
    await addChildRun(store.db, requested),
  ]
  assert.equal(first.execution.id, again.execution.id)
  assert.deepEqual(
    [first.execution.digest, first.execution.account, first.parentGrant],
    [inner.digest, alice.account, `grant-${parent}`],
  )
  const { id } = first.execution
  assert.equal(String(await loadSecret(store.db, id, 'word')), `shh ${id}/word`)
  await assert.rejects(loadSecret(store.db, id, 'other'), isFault('gone'))
  for (const wrong of [{ version: '1.0.0' }, { name: 'theirs' }]) {
    await assert.rejects(
      addChildRun(store.db, { ...requested, key: 'other', ...wrong }),
      isFault('not-found'),
    )
  }
  const schedule = await seedSchedule(store, alice, { workflow: inner.id, input: { b: 2 } })
  const runs = [1, 1, 2].map((at) => addScheduledRun(store.db, schedule, `time ${at}`))
  const ids = (await Promise.all(runs)).map((each) => each?.execution.id)
  assert.equal(new Set(ids).size, 2)
  assert.equal(ids[0], ids[1])
  assert.equal(await addScheduledRun(store.db, randomUUID(), 'x'), undefined)
  // Paused or deleted: nothing is started, even if it is triggered. Earlier runs are still found.
  const row = { org: alice.org, id: schedule }
  await store.as(alice, (tx) => pauseSchedule(tx, row, true))
  assert.equal(await addScheduledRun(store.db, schedule, 'time 3'), undefined)
  assert.equal((await addScheduledRun(store.db, schedule, 'time 1'))?.execution.id, ids[0])
  await store.as(alice, (tx) => pauseSchedule(tx, row, false))
  assert.ok(await addScheduledRun(store.db, schedule, 'time 3'))
  await store.as(alice, (tx) => deleteSchedule(tx, row))
  assert.equal(await addScheduledRun(store.db, schedule, 'time 4'), undefined)
})

test('runs are listed newest first, page by page', async () => {
  const workflow = await seedWorkflow(store, alice, { name: 'often' })
  const runs: string[] = []
  for (let at = 0; at < 5; at++) runs.unshift(await seedExecution(store, alice, workflow))
  const read = (before?: string) =>
    store.as(alice, (tx) =>
      listExecutions(tx, { org: alice.org, id: workflow.id }, { before, limit: 2 }),
    )
  const idsOf = (rows: Awaited<ReturnType<typeof read>>) => rows.map(({ id }) => id)
  assert.deepEqual(idsOf(await read()), runs.slice(0, 2))
  assert.deepEqual(idsOf(await read(runs[1])), runs.slice(2, 4))
  assert.deepEqual(idsOf(await read(runs[4])), [])
  assert.deepEqual(idsOf(await read(randomUUID())), [])
  const latest = await store.as(alice, (tx) => recentExecutions(tx, 1))
  assert.deepEqual(idsOf(latest), runs.slice(0, 1))
})

test('an interaction is answered once', async () => {
  const run = await seedExecution(store, alice, await seedWorkflow(store, alice, { name: 'asks' }))
  const execution = (await findExecution(store.db, run)) ?? assert.fail()
  await assert.rejects(openInteraction(store.db, execution), isFault('conflict'))
  await record(
    store.db,
    progress(run, 'waiting', [], { asks: [{ id: 'a', place: '/a', question }] }),
  )
  const requested = await openInteraction(store.db, execution)
  const answer = () => store.as(alice, (tx) => closeInteraction(tx, alice, requested))
  const reported = await Promise.allSettled([answer(), answer()])
  assert.deepEqual(reported.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected'])
})

test('a repeated request returns the same run, and concurrent runs per organisation are limited', async () => {
  const made = await seedWorkflow(store, alice, { name: 'asked twice' })
  const workflow = { ...made, org: alice.org }
  const start = (requestKey?: string, most = 1000, principal = alice) =>
    store.as(principal, (tx) =>
      addExecution(tx, principal, {
        id: randomUUID(),
        workflow,
        input: {},
        secrets: new Map(),
        requestKey,
        most,
      }),
    )
  const [first, again] = [await start('key'), await start('key')]
  assert.deepEqual([first.made, again.made], [true, false])
  assert.equal(first.execution.id, again.execution.id)
  assert.notEqual((await start('key', 1000, someone('eng'))).execution.id, first.execution.id)
  await assert.rejects(start(undefined, 2), isFault('too-many'))
  await assert.rejects(loadRun(store.db, first.execution.id), isFault('gone'))
  const other = { ...(await seedWorkflow(store, alice, { name: 'another' })), org: alice.org }
  await assert.rejects(
    store.as(alice, (tx) =>
      addExecution(tx, alice, {
        id: randomUUID(),
        workflow: other,
        input: {},
        secrets: new Map(),
        requestKey: 'key',
        most: 1000,
      }),
    ),
    isFault('conflict'),
  )
})
