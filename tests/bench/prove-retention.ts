// npm run prove:retention [-- --events N] [--tasks N] [--rounds N] Goal: retention has no cost for users: no query is slower than
// 1.5 times after expired rows are deleted than before, and the times during the pass are reported. Method: a real PostgreSQL
// with ten million events of a thousand organisations over five months, and old tasks; the same queries in turn, before, during
// and after the hourly pass; medians.
import { parseArgs } from 'node:util'

import { sql, type Kysely } from 'kysely'

import { endOfEvents, readEvents, emitEvent } from '../../apps/cloud/src/database/events.ts'
import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { deleteExpired } from '../../apps/cloud/src/reconcile/delete-expired.ts'
import { openTenantsApi, type TenantsApi } from '../../apps/cloud/test/tenants-api.ts'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000000' },
    tasks: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '200' },
  },
})
const [EVENTS, TASKS, ROUNDS] = [values.events, values.tasks, values.rounds].map(Number) as [
  number,
  number,
  number,
]
const ORGS = 1000
const DAYS = 150
const GOAL = 1.5
const WARM_UP = 10
const say = (line: string): void => void process.stdout.write(`${line}\n`)

/** Earlier months get their own partitions, as they would have had at their time. */
const layOut = (owner: Kysely<CloudTables>) =>
  sql`do $$ begin
    perform make_event_part((date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '2 months') at time zone 'UTC');
    for n in 1..${sql.lit(Math.ceil(DAYS / 28))} loop
      perform make_event_part((date_trunc('month', clock_timestamp() at time zone 'UTC') - n * interval '1 month') at time zone 'UTC');
    end loop;
  end $$`.execute(owner)

/** Oldest first, as in production. Few transactions, because a new cluster has counted few. */
const addEvents = (owner: Kysely<CloudTables>, first: number, last: number) =>
  sql`insert into event (tx, at, org, kind, details)
    select (1 + n * 600 / ${EVENTS})::text::xid8,
      clock_timestamp() - interval '1 hour' - (${EVENTS} - n) * (interval '1 day' * ${DAYS} / ${EVENTS}),
      (array(select id from org order by name))[1 + n % ${ORGS}],
      (array['task.queued', 'task.started', 'task.success', 'vm.changed'])[1 + n % 4], '{"operation": "powerOn"}'
    from generate_series(${first}::bigint, ${last}::bigint) n`.execute(owner)

async function fill({ cloud }: TenantsApi): Promise<void> {
  await cloud.asOwner(async (owner) => {
    await sql`insert into org (name) select 'org-' || n from generate_series(1, ${ORGS} - 2) n`.execute(
      owner,
    )
    await layOut(owner)
    const part = 1_000_000
    for (let n = 0; n < EVENTS; n += part) {
      await addEvents(owner, n + 1, Math.min(n + part, EVENTS))
      say(`${Math.min(n + part, EVENTS)} events`)
    }
  })
}

async function addOld({ cloud, eng }: TenantsApi): Promise<void> {
  await cloud.addVms(1000)
  await cloud.asOwner(async (owner) => {
    await sql`insert into task (id, org, vapp, owner, operation, state, created_at, started_at, ended_at)
      select overlay(uuid_v7()::text placing left(ms, 8) || '-' || right(ms, 4) from 1 for 13)::uuid, vapp.org, vapp.id,
        'alice', 'powerOn', 'success', at, at, at
      from (select at, lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as ms from (
        select clock_timestamp() - interval '1 hour' - n * (interval '1 day' * ${DAYS} / ${TASKS}) as at
        from generate_series(1, ${TASKS}::bigint) n) t) t,
        (select org, id from vapp where org = ${eng.org} limit 1) vapp`.execute(owner)
    await sql`vacuum analyze`.execute(owner)
  })
}

/** `first` runs before it, and is not timed. */
type Query = readonly [name: string, run: () => Promise<unknown>, first?: () => Promise<unknown>]

async function queriesOf(api: TenantsApi): Promise<readonly Query[]> {
  const { cloud, eng } = api
  const principal = { ...cloud.principal, org: eng.org }
  let end = await endOfEvents(cloud.db)
  const toEnd = async () => (end = await endOfEvents(cloud.db))
  const { rows } = await sql<{ tx: string; seq: string }>`
    select tx, seq from event where at > clock_timestamp() - interval '30 d' order by tx, seq limit 1`.execute(
    cloud.db,
  )
  const [kept = end] = rows
  const token = await api.enter(eng.org, 'author')
  const query = (requested: string) => async () => {
    const { status, text } = await api.ask('GET', `/api/query?${requested}`, { token })
    if (status !== 200) throw new Error(`${requested}: ${status} ${text}`)
  }
  return [
    [
      'the feed of a tenant: nothing new',
      () => cloud.as(principal, (tx) => readEvents(tx, end, 500)),
      toEnd,
    ],
    [
      'the feed of a tenant: 500 after a cursor',
      () => cloud.as(principal, (tx) => readEvents(tx, kept, 500)),
    ],
    ['the end of the feed of a tenant', () => cloud.as(principal, endOfEvents)],
    ['the tail of a cell, all organisations', () => readEvents(cloud.db, end, 500), toEnd],
    ['nothing at all, to compare with', () => sql`select 1`.execute(cloud.db)],
    ['500 events of all organisations after a cursor', () => readEvents(cloud.db, kept, 500)],
    ['an event is written', () => emitEvent(cloud.db, { kind: 'bench', org: eng.org })],
    ['a page of events of a tenant', query('type=event&pageSize=25')],
    ['the newest events of a tenant', query('type=event&sortDesc=timeStamp&pageSize=25')],
    ['a page of tasks of a tenant', query('type=task&pageSize=25')],
    ['a page of VMs of a tenant', query('type=vm&pageSize=25')],
  ]
}

/** Medians in milliseconds, all queries in turn. */
async function measure(
  queries: readonly Query[],
  goesOn: (round: number) => boolean,
): Promise<{ readonly medians: readonly number[]; readonly rounds: number }> {
  const times = queries.map((): number[] => [])
  let round = 0
  for (; goesOn(round); round += 1) {
    for (const [at, [, run, first]] of queries.entries()) {
      await first?.()
      const began = performance.now()
      await run()
      times[at]?.push(performance.now() - began)
    }
  }
  const medians = times.map(
    (all) => all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN,
  )
  return { medians, rounds: round }
}

/** The minimum of three medians: other load of the machine affects one of them. */
async function least(queries: readonly Query[]): Promise<{ readonly medians: readonly number[] }> {
  const parts: Awaited<ReturnType<typeof measure>>[] = []
  for (let n = 0; n < 3; n += 1) parts.push(await measure(queries, (round) => round < ROUNDS / 3))
  const medians = queries.map((_, at) => Math.min(...parts.map((part) => part.medians[at] ?? NaN)))
  return { medians }
}

await using api = await openTenantsApi()
const { db } = api.cloud
let began = performance.now()
const seconds = () => ((performance.now() - began) / 1000).toFixed(1)
await fill(api)
await addOld(api)
say(`filled in ${seconds()} s`)
const queries = await queriesOf(api)
await measure(queries, (round) => round < WARM_UP)
const before = await least(queries)
began = performance.now()
let isOver = false
const pass = deleteExpired(db).finally(() => (isOver = true))
const during = await measure(queries, () => !isOver)
const gone = await pass
say(`one pass: ${gone} rows and parts of events gone in ${seconds()} s`)
const again = performance.now()
await deleteExpired(db)
say(`a pass that finds nothing: ${(performance.now() - again).toFixed(0)} ms`)
await measure(queries, (round) => round < WARM_UP)
const after = await least(queries)
say(
  `| Query | before, ms | during (${during.rounds} rounds) | after | after / before |\n|---|---|---|---|---|`,
)
let worst = 0
for (const [at, [name]] of queries.entries()) {
  const [was = NaN, meanwhile = NaN, is = NaN] = [before, during, after].map(
    ({ medians }) => medians[at],
  )
  worst = Math.max(worst, is / was)
  say(
    `| ${name} | ${[was, meanwhile, is].map((ms) => ms.toFixed(2)).join(' | ')} | ${(is / was).toFixed(2)} |`,
  )
}
const { rows: left } = await sql<{ oldest: string; n: string }>`
  select extract(day from clock_timestamp() - min(at)) as oldest, count(*) as n from event`.execute(
  db,
)
say(
  `${left[0]?.n} events are left, the oldest of ${left[0]?.oldest} days; worst ratio ${worst.toFixed(2)}, goal ${GOAL}`,
)
if (worst > GOAL) process.exitCode = 1
