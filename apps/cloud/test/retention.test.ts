// Goal: ended rows are deleted after the documented time, and all others are found as before. Method: a real database, in which
// rows are made older.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import { sql, type Kysely } from 'kysely'

import { defaultRetention, retentionOf } from '../src/config.ts'
import { endOfEvents, readEvents, emitEvent, type EventRow } from '../src/database/events.ts'
import type { CloudTables } from '../src/database/tables.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { keepRetention } from '../src/reconcile/retention.ts'
import { deleteEdgeGateway } from '../src/tenants/edge-gateways.ts'
import { deleteNetwork } from '../src/tenants/networks.ts'
import { openCloudDatabase, startDatabases } from './cloud-database.ts'
import { addEdge, addEdgeGatewayRow } from './edge-rows.ts'
import { openZone, projectAll } from './open-zone.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

const partsOf = async (db: Kysely<CloudTables>): Promise<string[]> =>
  (await sql<{ name: string }>`select name from event_part order by ends`.execute(db)).rows.map(
    ({ name }) => name,
  )

const everything = { tx: '0', seq: '0' }

/** All events, once the last of them is readable: internal work of PostgreSQL, such as ANALYZE, holds the newest back for a moment. */
const allEvents = (db: Kysely<CloudTables>, last: string): Promise<EventRow[]> =>
  until(`${last} is readable`, async () => {
    const events = await readEvents(db, everything, 100)
    return events.at(-1)?.kind === last ? events : undefined
  })

test('a month of events is dropped when all of it is older than the retention, and no other', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  await cloud.asOwner((owner) =>
    sql`do $$ begin
      perform make_event_part(date_trunc('month', clock_timestamp() at time zone 'UTC') at time zone 'UTC' + interval '2 months');
      for n in 1..8 loop
        perform make_event_part((date_trunc('month', clock_timestamp() at time zone 'UTC') - n * interval '1 month') at time zone 'UTC');
      end loop;
    end $$`.execute(owner),
  )
  for (const age of [200, 150, 122, 89, 45, 0]) {
    await sql`insert into event (kind, at) values (${`old.${age}`}, clock_timestamp() - make_interval(days => ${age}))`.execute(
      db,
    )
  }
  await keepRetention(db, defaultRetention)
  const kinds = (await allEvents(db, 'old.0')).map(({ kind }) => kind)
  assert.deepEqual(kinds, ['old.89', 'old.45', 'old.0'])
  const { rows } = await sql<{ oldest: boolean }>`
    select min(ends) > clock_timestamp() - interval '90 d' as oldest from event_part`.execute(db)
  assert.deepEqual(rows, [{ oldest: true }])
  const left = await partsOf(db)
  assert.equal(await keepRetention(db, defaultRetention), 0)
  assert.deepEqual(await partsOf(db), left, 'a second pass finds nothing to do')
})

test('an event whose month has no partition is kept, found, and moved when the partition is created', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const later =
    "date_trunc('month', clock_timestamp() at time zone 'UTC') + interval '4 months 9 days'"
  await sql`insert into event (kind, at) values ('early', (${sql.raw(later)}) at time zone 'UTC')`.execute(
    db,
  )
  await emitEvent(db, { kind: 'now' })
  const found = await allEvents(db, 'now')
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['early', 'now'],
  )
  const inRest = () =>
    cloud.asOwner(async (owner) => (await sql`select from event_rest`.execute(owner)).rows.length)
  assert.equal(await inRest(), 1)
  await cloud.asOwner((owner) =>
    sql`select make_event_part(date_trunc('month', ${sql.raw(later)}) at time zone 'UTC')`.execute(
      owner,
    ),
  )
  assert.equal(await inRest(), 0)
  assert.deepEqual(await allEvents(db, 'now'), found)
  assert.deepEqual(await endOfEvents(db), { tx: found[1]?.tx, seq: found[1]?.seq })
})

test('a tenant reads its own events in every partition, and no partition by its name', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, principal } = cloud
  await deleteExpired(db)
  const other = await db
    .insertInto('org')
    .values({ name: 'other' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const months = ['-40 d', '0', '35 d', '200 d']
  for (const org of [principal.org, other.id]) {
    for (const month of months) {
      await sql`insert into event (kind, org, at)
        values (${month}, ${org}, clock_timestamp() + ${month}::interval)`.execute(db)
    }
  }
  await allEvents(db, '200 d')
  const own = await cloud.as(principal, (tx) => readEvents(tx, everything, 100))
  assert.deepEqual(
    own.map(({ kind, org }) => [kind, org]),
    months.map((month) => [month, principal.org]),
  )
  const parts = [...(await partsOf(db)), 'event_rest']
  for (const part of parts) {
    const reading = cloud.as(principal, (tx) => sql`select from ${sql.table(part)}`.execute(tx))
    await assert.rejects(reading, /permission denied/, part)
    await assert.rejects(sql`select from ${sql.table(part)}`.execute(db), /permission denied/, part)
  }
  await assert.rejects(
    cloud.as(principal, (tx) => sql`select keep_events(interval '0')`.execute(tx)),
    /permission denied/,
  )
})

test('tasks are deleted 90 days after their start with all children, unless one of them is still open', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, principal } = cloud
  const { vapp, vms } = await cloud.addVms(2)
  const [vm = null, second = null] = vms
  let place = 0
  const add = async (days: number, over: boolean, parent?: string, of = vm) => {
    place += 1
    const { rows } = await sql<{ id: string }>`
      insert into task (id, org, vapp, vm, parent, position, owner, operation, state, created_at, started_at, ended_at)
      select overlay(uuid_v7()::text placing left(ms, 8) || '-' || right(ms, 4) from 1 for 13)::uuid,
        ${principal.org}, ${vapp}, ${parent === undefined ? null : of}, ${parent ?? null},
        ${parent === undefined ? null : place}, 'alice', 'powerOn', ${over ? 'success' : 'running'}, at, at,
        case when ${over} then at end
      from (select at, lpad(to_hex(floor(extract(epoch from at) * 1000)::bigint), 12, '0') as ms
        from (select clock_timestamp() - make_interval(days => ${days}) as at) t) t returning id`.execute(
      db,
    )
    return rows[0]?.id ?? ''
  }
  const old = await add(91, true)
  const oldParts = [await add(91, true, old), await add(91, true, old, second)]
  const young = await add(89, true)
  const goesOn = await add(91, false)
  const partGoesOn = await add(91, true)
  await add(91, false, partGoesOn)
  const partBeganLate = await add(91, true)
  await add(80, true, partBeganLate)
  assert.equal(await deleteExpired(db), 1 + oldParts.length)
  const left = (await db.selectFrom('task').select('id').where('parent', 'is', null).execute()).map(
    ({ id }) => id as string,
  )
  assert.deepEqual(left.toSorted(), [young, goesOn, partGoesOn, partBeganLate].toSorted())
  assert.equal(
    await deleteExpired(db, { ...defaultRetention, taskDays: 31 }),
    1 + 2,
    'as configured',
  )
})

test('one pass deletes more rows than one batch', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  const { vapp } = await cloud.addVms(1200)
  await sql`update vm set deleted_at = clock_timestamp() - interval '91 d', host = null`.execute(db)
  await sql`update vapp set deleted_at = clock_timestamp() - interval '91 d' where id = ${vapp}`.execute(
    db,
  )
  assert.equal(await deleteExpired(db), 1201)
  assert.deepEqual(await db.selectFrom('vapp').select('id').execute(), [])
})

test('the row of a deleted VM is removed after its tasks and clones, with its metadata', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, principal } = cloud
  const { vapp, vms } = await cloud.addVms(4)
  const [plain, source, copy, young] = vms
  await sql`update vm set source = ${source} where id = ${copy}`.execute(db)
  await sql`insert into metadata (org, vapp, vm, key, type, value)
    values (${principal.org}, ${vapp}, ${plain}, 'a', 'String', 'b'), (${principal.org}, ${vapp}, null, 'c', 'String', 'd')`.execute(
    db,
  )
  const age = (ids: readonly unknown[], days: number) =>
    sql`update vm set deleted_at = clock_timestamp() - make_interval(days => ${days}), host = null
      where id = any(${ids}::uuid[])`.execute(db)
  await age([plain, source], 91)
  await age([young], 89)
  const left = async () =>
    new Set((await db.selectFrom('vm').select('id').execute()).map(({ id }) => id))
  assert.equal(await deleteExpired(db), 1)
  assert.deepEqual(await left(), new Set([source, copy, young]))
  await age([copy, young], 91)
  await sql`update vapp set deleted_at = clock_timestamp() - interval '91 d'`.execute(db)
  await deleteExpired(db)
  await deleteExpired(db)
  assert.deepEqual(await left(), new Set())
  assert.deepEqual(await db.selectFrom('vapp').select('id').execute(), [])
  assert.deepEqual(await db.selectFrom('metadata').select('key').execute(), [])
})

test('the rows of a deleted network and a deleted edge gateway are removed when nothing refers to them; those of others stay', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db, host, principal } = cloud
  const { org } = principal
  const zone = await openZone(db, host)
  const { id: vdc } = await db.selectFrom('vdc').select('id').executeTakeFirstOrThrow()
  const live = await addEdge(db, { org, vdc, name: 'live', host })
  const young = await addEdgeGatewayRow(db, {
    org,
    vdc,
    name: 'young',
    external: live.externalNetwork,
    host,
  })
  await sql`select release_external_address(${young.id}, number) from external_address
    where edge_gateway = ${young.id} and purpose = 'tenant'`.execute(db)
  await sql`select provide_default_network(${vdc})`.execute(db)
  const network = await db.selectFrom('network').selectAll().executeTakeFirstOrThrow()
  const old = network.edge_gateway ?? assert.fail()
  await db.transaction().execute(async (tx) => {
    await deleteNetwork(tx, principal, network)
    await deleteEdgeGateway(tx, principal, { org, id: old })
    await deleteEdgeGateway(tx, principal, { org, id: young.id })
  })
  await sql`update network set deleted_at = clock_timestamp() - interval '91 d'`.execute(db)
  await sql`update edge_gateway set deleted_at = clock_timestamp()
    - make_interval(days => case when id = ${old} then 91 else 89 end) where deleted_at is not null`.execute(
    db,
  )
  const left = async () => ({
    networks: (await db.selectFrom('network').select('id').execute()).length,
    gateways: new Set(
      (await db.selectFrom('edge_gateway').select('id').execute()).map(({ id }) => id),
    ),
  })
  const all = { networks: 1, gateways: new Set([live.edgeGateway, young.id, old]) }
  assert.equal(await deleteExpired(db), 0, 'the network server has not removed them yet')
  assert.deepEqual(await left(), all)
  await projectAll(db, zone)
  const task = await db
    .insertInto('task')
    .values({
      org,
      edge_gateway: old,
      owner: 'alice',
      operation: 'deleteEdgeGateway',
      object_name: '',
      input: 'null',
      state: 'success',
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  assert.equal(await deleteExpired(db), 1, 'the network')
  assert.deepEqual(await left(), { ...all, networks: 0 }, 'a task refers to the edge gateway')
  await db.deleteFrom('task').where('id', '=', task.id).execute()
  assert.equal(await deleteExpired(db), 1)
  assert.deepEqual(await left(), {
    networks: 0,
    gateways: new Set([live.edgeGateway, young.id]),
  })
  const addresses = await db.selectFrom('external_address').select('edge_gateway').execute()
  assert.deepEqual(
    addresses.map(({ edge_gateway: of }) => of),
    [live.edgeGateway, live.edgeGateway],
    'its own address and the one that was taken',
  )
  assert.equal(await deleteExpired(db), 0)
})

test('retention is configured for each kind', () => {
  assert.deepEqual(retentionOf({}), { taskDays: 90, eventDays: 90, deletedDays: 90 })
  assert.deepEqual(retentionOf({ retention: { eventDays: 400 } }), {
    ...defaultRetention,
    eventDays: 400,
  })
})
