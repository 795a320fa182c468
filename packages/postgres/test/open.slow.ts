// Goal: a restart of the database fails requests, never the program. Method: a real PostgreSQL is killed, stopped and frozen.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { type Postgres, reasonWithoutRoot, startPostgres, until } from '@skerry/lab'
import { sql } from 'kysely'

import { brokenConstraint, inOrg, openDatabase, openTenants } from '../src/index.ts'
import { toFault } from '../src/sqlstate.ts'

const skip = reasonWithoutRoot('cloud') ?? false
let dir: string
let postgres: Postgres

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'postgres-open-'))
  postgres = await startPostgres(dir)
})
after(async () => {
  if (skip) return
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const open = (
  more: { size?: number; statementTimeoutMs?: number; connectTimeoutMs?: number } = {},
) => openDatabase<Record<string, never>>({ url: postgres.url, applicationName: 'test', ...more })

const one = async (db: ReturnType<typeof open>): Promise<number> =>
  (await sql<{ one: number }>`select 1 as one`.execute(db)).rows[0]?.one ?? 0

const isUnavailable = (error: unknown) => error instanceof Fault && error.kind === 'unavailable'

test('after a kill of the database the pool recovers by itself', { skip }, async () => {
  await using db = open({ size: 4 })
  await Promise.all([one(db), one(db), one(db), one(db)])
  // One query runs, one transaction is open between two statements, two connections are idle.
  const running = sql`select pg_sleep(30)`.execute(db)
  const between = Promise.withResolvers<void>()
  const died = Promise.withResolvers<void>()
  const transaction = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx)
    between.resolve()
    await died.promise
    await sql`select 2`.execute(tx)
  })
  const both = [
    assert.rejects(running, isUnavailable),
    assert.rejects(transaction, isUnavailable, 'and not the error of its rollback'),
  ]
  await between.promise
  await postgres.kill9()
  died.resolve()
  await Promise.all(both)
  await assert.rejects(one(db), isUnavailable, 'no listener')

  await postgres.restart()
  // On a busy machine the first connections may take longer than the client waits.
  const isAnswered = () => one(db).then(Boolean, () => false)
  await until('the server answers', isAnswered)
  assert.deepEqual(
    await Promise.all([one(db), one(db), one(db), one(db), one(db)]),
    [1, 1, 1, 1, 1],
  )
})

test('an orderly shutdown is a retryable fault too', { skip }, async () => {
  await using db = open()
  await one(db)
  const running = assert.rejects(sql`select pg_sleep(30)`.execute(db), isUnavailable)
  await until('the query should run', async () => {
    const count = await postgres.psql(
      `select count(*) from pg_stat_activity where query like '%pg_sleep(30)%'`,
    )
    return Number(count) > 1
  })
  await postgres.restart()
  await running
  assert.equal(await one(db), 1)
})

test(
  'requests to a hanging database time out, and it is used again when it continues',
  { skip },
  async () => {
    await using db = open({ size: 1, statementTimeoutMs: 300, connectTimeoutMs: 300 })
    // With this short timeout a busy machine may not even have connected.
    const pidOf = async () =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid
    const pid = await until('it is connected', () => pidOf().catch(() => undefined))
    process.kill(pid, 'SIGSTOP')
    try {
      const began = performance.now()
      await assert.rejects(one(db), isUnavailable)
      assert.ok(performance.now() - began < 5_000)
      // The frozen connection was dropped and replaced.
      const other = await until('it is connected again', () => pidOf().catch(() => undefined))
      assert.notEqual(other, pid)
    } finally {
      process.kill(pid, 'SIGCONT')
    }
  },
)

test('the database ends slow statements and idle transactions', { skip }, async () => {
  await using db = open({ statementTimeoutMs: 1000 })
  await assert.rejects(sql`select pg_sleep(30)`.execute(db), isUnavailable)
  const { rows } = await sql`show idle_in_transaction_session_timeout`.execute(db)
  assert.deepEqual(rows, [{ idle_in_transaction_session_timeout: '10s' }])
})

test('a full pool makes callers wait for a limited time', { skip }, async () => {
  await using db = open({ size: 1, connectTimeoutMs: 1000 })
  const done = Promise.withResolvers<void>()
  const holder = db.transaction().execute(async (tx) => {
    await sql`select 1`.execute(tx)
    await done.promise
  })
  await until('the only connection should be taken', async () =>
    one(db).then(
      () => false,
      (error: unknown) => isUnavailable(error),
    ),
  )
  done.resolve()
  await holder
  assert.equal(await one(db), 1)
})

test(
  'a violated constraint is returned by its name, and is not a retryable fault',
  { skip },
  async () => {
    await using db = open()
    await sql`create table rule (n int constraint positive check (n > 0))`.execute(db)
    await assert.rejects(sql`insert into rule values (0)`.execute(db), (error) => {
      assert.equal(brokenConstraint(error), 'positive')
      return !(error instanceof Fault)
    })
    assert.equal(brokenConstraint(new Error('other')), undefined)
  },
)

test('retryable errors and others', () => {
  const coded = (code: string) => toFault(Object.assign(new Error('x'), { code }))
  for (const code of ['57P01', '57P03', '53300', '40001', '40P01', '08006', 'ECONNREFUSED']) {
    assert.ok(isUnavailable(coded(code)), code)
  }
  for (const code of ['42P01', '23505', '22P02']) assert.ok(!isUnavailable(coded(code)), code)
  const several = new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })])
  assert.ok(isUnavailable(toFault(several)))
  const own = new Fault('conflict', 'x')
  assert.equal(toFault(own), own)
})

test('acting for an organisation leaves nothing in the connection', { skip }, async () => {
  await using pool = openTenants<Record<string, never>>({
    url: postgres.url,
    applicationName: 'tenants',
    size: 1,
  })
  const seen = async (org: string) =>
    inOrg(pool, org, async (tx) => {
      const { rows } = await sql<{ org: string; pid: number }>`
        select current_setting('app.org', true) as org, pg_backend_pid() as pid`.execute(tx)
      return rows[0]
    })
  const first = await seen('one')
  await assert.rejects(
    inOrg(pool, 'two', () => Promise.reject(new Error('the work failed'))),
    /the work failed/,
  )
  const third = await seen('three')
  assert.deepEqual([first?.org, third?.org, third?.pid], ['one', 'three', first?.pid])

  // The same connection, outside of inOrg.
  await using db = open({ size: 1 })
  const setting = async () =>
    (await sql<{ org: string | null }>`select current_setting('app.org', true) as org`.execute(db))
      .rows[0]?.org
  await db
    .transaction()
    .execute((tx) => sql`select set_config('app.org', 'four', true)`.execute(tx))
  assert.ok([null, ''].includes((await setting()) ?? null))
})

test(
  'a statement is planned once per connection, and again when its tables have changed',
  { skip },
  async () => {
    await using db = open({ size: 1 })
    await sql`create table grown (id integer)`.execute(db)
    await sql`insert into grown values (7)`.execute(db)
    const read = async (id: number) =>
      (await sql`select * from grown where id = ${id}`.execute(db)).rows
    assert.deepEqual([await read(7), await read(8)], [[{ id: 7 }], []])
    const prepared = await sql<{ count: string }>`select count(*) from pg_prepared_statements
    where statement like 'select * from grown%'`.execute(db)
    assert.equal(prepared.rows[0]?.count, '1')
    await postgres.psql('alter table grown add column more integer')
    await assert.rejects(read(7), isUnavailable, 'its plan is for older tables')
    // A query may still get the connection while it is being closed.
    const again = await until('there is a new connection', () => read(7).catch(() => undefined))
    assert.deepEqual(again, [{ id: 7, more: null }])
  },
)

test('the number of named statements is limited', { skip }, async () => {
  await using db = open({ size: 1 })
  for (let n = 0; n < 400; n += 1)
    await sql`select ${sql.raw(String(n))}::integer + ${n}`.execute(db)
  const { rows } = await sql<{
    count: number
  }>`select count(*)::integer as count from pg_prepared_statements`.execute(db)
  assert.ok((rows[0]?.count ?? 0) <= 256, `${rows[0]?.count} are kept`)
})
