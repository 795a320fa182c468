// Goal: a reader sees one snapshot of one organisation and cannot write; after any fault the next query works.
// Method: a real PostgreSQL, with a writer beside the reader, timeouts and a kill.
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { Fault } from '@skerry/fault'
import { type Postgres, reasonWithoutRoot, startPostgres } from '@skerry/lab'
import { sql } from 'kysely'

import { isMisfit, openReader, tookTooLong } from '../src/index.ts'

const skip = reasonWithoutRoot('cloud') ?? false
let dir: string
let postgres: Postgres

before(async () => {
  if (skip) return
  dir = await mkdtemp(join(tmpdir(), 'postgres-reader-'))
  postgres = await startPostgres(dir)
  await postgres.psql(`create table thing (org text, n integer);
    insert into thing values ('a', 1), ('a', 2), ('b', 3);
    alter table thing enable row level security;
    create policy own on thing using (org = nullif(current_setting('app.org', true), ''));
    create role tenant login; grant select, insert on thing to tenant`)
})
after(async () => {
  if (skip) return
  await postgres[Symbol.asyncDispose]()
  await rm(dir, { recursive: true, force: true })
})

const open = (user?: string) =>
  openReader({
    url: postgres.urlOf('postgres', user),
    applicationName: 'test',
    size: 1,
    statementTimeoutMs: 2000,
  })
const count = sql<{ n: string }>`select count(*) as n from thing`

test(
  'each query is for one organisation, and nothing of it stays in the connection',
  { skip },
  async () => {
    await using reader = open('tenant')
    assert.deepEqual(await reader.in('a').ask(count), [{ n: '2' }])
    assert.deepEqual(await reader.in('b').ask(count), [{ n: '1' }])
    assert.deepEqual(await reader.everywhere().ask(count), [{ n: '0' }])
    assert.deepEqual(await Promise.all(['a', 'b', 'a'].map((org) => reader.in(org).ask(count))), [
      [{ n: '2' }],
      [{ n: '1' }],
      [{ n: '2' }],
    ])
  },
)

test('two queries see one snapshot', { skip }, async () => {
  await using reader = open()
  let seen: unknown
  const [first, second] = await reader.everywhere().askOn(count, (rows) => {
    seen = rows
    return sql<{ n: string }>`select count(*) as n from thing, pg_sleep(0.1)`
  })
  assert.deepEqual([first, second], [seen, first])
  const [, nothing] = await reader.everywhere().askOn(count, () => undefined)
  assert.deepEqual(nothing, [])
})

test('it cannot write, times out, and continues after every fault', { skip }, async () => {
  await using reader = open()
  const asking = reader.everywhere()
  await assert.rejects(asking.ask(sql`insert into thing values ('a', 4)`), Fault)
  await assert.rejects(asking.ask(sql`select pg_sleep(30)`), tookTooLong)
  await assert.rejects(asking.ask(sql`select ${'x'}::integer`), isMisfit)
  await assert.rejects(
    asking.askOn(sql`select 1 / 0`, () => count),
    isMisfit,
  )
  assert.deepEqual(await asking.ask(count), [{ n: '3' }])
  await postgres.kill9()
  await assert.rejects(asking.ask(count), Fault)
  await postgres.restart()
  assert.deepEqual(await asking.ask(count), [{ n: '3' }])
})
