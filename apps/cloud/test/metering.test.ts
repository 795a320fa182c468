// Goal: what organisations use is summed up exactly, whatever happens: by millisecond, once, and for all that is metered. Method: random
// changes on a real PostgreSQL against a model, with a clock that the test sets; open transactions and killed folds at the end of an hour.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { until, type Postgres } from '@skerry/lab'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { foldHour, foldUsage } from '../src/metering/fold-usage.ts'
import { deleteExpired } from '../src/reconcile/delete-expired.ts'
import { openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { compareWithModel } from './usage-lives.ts'
import { foldUntil, openClocked, setClock, startMetering, takeClock } from './usage-model.ts'

let postgres: Postgres
before(async () => {
  postgres = await startDatabases()
})
after(() => postgres[Symbol.asyncDispose]())

test('random changes are summed up by hour as in a model, to the millisecond, and again the same', async (t) => {
  await using cloud = await openCloudDatabase(postgres)
  const found = await compareWithModel(cloud, { changes: 1000, seed: 42, meanMs: 180_000 })
  t.diagnostic(JSON.stringify(found))
  assert.deepEqual([found.differing, found.notRepeated], [[], 0])
  assert.ok(found.rows > 60 && found.folds > 30 && found.rolledBack > 10)
})

const START = Date.parse('2026-03-01T10:00:00Z')
const at = (time: string): number => Date.parse(`2026-03-01T${time}Z`)

/** One VM that has been running since 10:00, with a clock that tests set. */
async function openMetered(): Promise<
  CloudDatabase & { readonly clocked: Kysely<CloudTables>; readonly vm: string }
> {
  const cloud = await openCloudDatabase(postgres)
  await takeClock(cloud)
  const clocked = openClocked(cloud)
  await setClock(clocked, START)
  await startMetering(clocked, START)
  const { rows } = await sql<{ id: string }>`
    with app as (insert into vapp (org, vdc, name, owner) select org, id, 'app', 'alice' from vdc returning org, id)
    insert into vm (org, vapp, name, image, status, cpus, memory_mib, disk_mib)
      select app.org, app.id, 'vm', image.digest, 'POWERED_ON', 2, 1024, 100 from app, image returning id`.execute(
    clocked,
  )
  const dispose = cloud[Symbol.asyncDispose].bind(cloud)
  return Object.assign(cloud, {
    clocked,
    vm: rows[0]?.id ?? '',
    async [Symbol.asyncDispose]() {
      await clocked.destroy()
      await dispose()
    },
  })
}

const hoursOf = async (db: Kysely<CloudTables>) =>
  (
    await db
      .selectFrom('usage_hour')
      .select(['hour', 'vm_ms', 'running_cpu_ms'])
      .orderBy('hour')
      .execute()
  ).map(({ hour, vm_ms: vm, running_cpu_ms: cpu }) => [
    hour.toISOString().slice(11, 16),
    Number(vm),
    Number(cpu),
  ])

test('an hour waits for a transaction that was open at its end', async () => {
  await using cloud = await openMetered()
  const { clocked, vm, db } = cloud
  const other = openClocked(cloud)
  try {
    const opened = Promise.withResolvers<undefined>()
    const ends = Promise.withResolvers<undefined>()
    const late = other.transaction().execute(async (tx) => {
      await setClock(tx, at('10:59:59.990'))
      await sql`update vm set status = 'POWERED_OFF' where id = ${vm}`.execute(tx)
      opened.resolve(undefined)
      await ends.promise
    })
    await opened.promise
    await setClock(clocked, at('11:30:00'))
    assert.equal(await foldUsage(clocked), 0, 'its span is not there yet')
    ends.resolve(undefined)
    await late
    assert.equal(await foldUntil(clocked, at('11:00:00')), 1)
    assert.deepEqual(await hoursOf(db), [['10:00', 3_600_000, 2 * 3_599_990]])
  } finally {
    await other.destroy()
  }
})

test('an hour is not summed up before it has been over for a minute, and every hour once, by several cells at once', async () => {
  await using cloud = await openMetered()
  const { clocked, db } = cloud
  await setClock(clocked, at('11:00:59'))
  assert.equal(await foldUsage(clocked), 0)
  const cells = [1, 2, 3].map(() => openClocked(cloud))
  try {
    for (const cell of cells) await setClock(cell, at('15:01:00'))
    const folded = await Promise.all(cells.map((cell) => foldUsage(cell)))
    const rest = await foldUntil(cells[0] ?? clocked, at('15:00:00'))
    assert.equal(
      folded.reduce((sum, each) => sum + each, rest),
      5,
    )
    const whole = ['10', '11', '12', '13', '14'].map((hour) => [`${hour}:00`, 3_600_000, 7_200_000])
    assert.deepEqual(await hoursOf(db), whole)
  } finally {
    for (const cell of cells) await cell.destroy()
  }
})

/** From now on the database cancels a statement that writes more hours than this, as if it took too long. */
const cancelAbove = (cloud: CloudDatabase, most: number): Promise<unknown> =>
  cloud.asOwner(async (owner) => {
    await sql`create or replace function cancel_above() returns trigger language plpgsql as $$
      begin
        if (select count(*) > ${sql.lit(most)} from written) then raise exception 'too long' using errcode = '57014'; end if;
        return null;
      end $$`.execute(owner)
    await sql`create or replace trigger cancel_above after insert on usage_hour referencing new table as written
      for each statement execute function cancel_above()`.execute(owner)
  })

/** Four more organisations with a VM each that has been running since 10:00. */
async function addOrgs(db: Kysely<CloudTables>): Promise<void> {
  await sql`
    with made as (insert into org (name) select 'many' || n from generate_series(1, 4) n returning id),
      home as (insert into vdc (org, name) select id, 'home' from made returning org, id),
      app as (insert into vapp (org, vdc, name, owner) select org, id, 'app', 'alice' from home returning org, id)
    insert into vm (org, vapp, name, image, status, cpus, memory_mib, disk_mib)
      select app.org, app.id, 'vm', image.digest, 'POWERED_ON', 2, 1024, 100 from app, image`.execute(
    db,
  )
}

test('an hour that takes too long is summed up in parts, whole or not at all', async () => {
  await using cloud = await openMetered()
  const { clocked, db } = cloud
  await addOrgs(clocked)
  await setClock(clocked, at('11:30:00'))
  await cancelAbove(cloud, 0)
  await assert.rejects(foldUntil(clocked, at('11:00:00')), /timed out|too long/)
  assert.deepEqual(await hoursOf(db), [])
  await cancelAbove(cloud, 2)
  assert.equal(await foldUntil(clocked, at('11:00:00')), 1)
  const hour = ['10:00', 3_600_000, 7_200_000]
  assert.deepEqual(await hoursOf(db), [hour, hour, hour, hour, hour])
})

test('a cell that is killed while it sums up leaves nothing behind', async () => {
  await using cloud = await openMetered()
  const { clocked, db } = cloud
  await setClock(clocked, at('11:30:00'))
  const killed = openClocked(cloud)
  await setClock(killed, at('11:30:00'))
  // The hour is closed, and its sums are written but not committed.
  assert.equal(await foldUntil(clocked, at('11:00:00')), 1)
  await setClock(clocked, at('12:30:00'))
  await setClock(killed, at('12:30:00'))
  await sql`update usage_folded set closed_at = ${new Date(at('12:29:00'))}, closed_tx = pg_current_xact_id()`.execute(
    db,
  )
  await until('older transactions are over', async () => {
    const { rows } = await sql<{ over: boolean }>`
      select closed_tx < pg_snapshot_xmin(pg_current_snapshot()) as over from usage_folded`.execute(
      db,
    )
    return rows[0]?.over === true
  })
  const broken = killed.transaction().execute(async (tx) => {
    assert.equal(await foldHour(tx), true)
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx)
    await cloud.asOwner((owner) => sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(owner))
    await sql`select 1`.execute(tx)
  })
  await assert.rejects(broken)
  await killed.destroy()
  assert.equal((await hoursOf(db)).length, 1)
  assert.equal(await foldUntil(clocked, at('12:00:00')), 1)
  assert.deepEqual((await hoursOf(db))[1], ['11:00', 3_600_000, 7_200_000])
})

test('after a restore in a cluster with lower transaction ids, hours are summed up again', async () => {
  await using cloud = await openMetered()
  const { clocked, db } = cloud
  await sql`update usage_folded set closed_at = ${new Date(at('11:20:00'))}, closed_tx = '9000000000'`.execute(
    db,
  )
  await setClock(clocked, at('11:30:00'))
  assert.equal(await foldUntil(clocked, at('11:00:00')), 1)
})

test('a clock that goes back does not change hours that are summed up', async () => {
  await using cloud = await openMetered()
  const { clocked, vm, db } = cloud
  await setClock(clocked, at('11:30:00'))
  await foldUntil(clocked, at('11:00:00'))
  await setClock(clocked, at('10:15:00'))
  await sql`update vm set status = 'POWERED_OFF' where id = ${vm}`.execute(clocked)
  await setClock(clocked, at('12:30:00'))
  await foldUntil(clocked, at('12:00:00'))
  assert.deepEqual(await hoursOf(db), [
    ['10:00', 3_600_000, 7_200_000],
    ['11:00', 3_600_000, 0],
  ])
})

test('a VM that was lost is metered again from the time when it is found, also when the clock went back before', async () => {
  await using cloud = await openMetered()
  const { clocked, db, vm } = cloud
  const change = (set: ReturnType<typeof sql>) =>
    sql`update vm set ${set} where id = ${vm}`.execute(clocked)
  await setClock(clocked, at('10:10:00'))
  await change(sql`lost_reason = 'LOST'`)
  await setClock(clocked, at('10:20:00'))
  await change(sql`status = 'POWERED_OFF'`)
  await setClock(clocked, at('10:19:58'))
  await change(sql`lost_reason = null`)
  await setClock(clocked, at('11:30:00'))
  assert.equal(await foldUntil(clocked, at('11:00:00')), 1)
  const [running, off] = [600_000, 2_402_000]
  assert.deepEqual(await hoursOf(db), [['10:00', running + off, 2 * running]])
})

test('changes of what is not metered write no span', async () => {
  await using cloud = await openMetered()
  const { clocked, vm, db } = cloud
  await setClock(clocked, at('10:30:00'))
  await sql`update vm set fence = fence + 1, host_silent = true, desired_power = 'POWERED_ON', cpus = 2 where id = ${vm}`.execute(
    clocked,
  )
  const spans = () => db.selectFrom('usage_span').select(['unit', 'ended_at']).execute()
  assert.deepEqual(await spans(), [])
  await sql`update vm set status = 'POWERED_OFF' where id = ${vm}`.execute(clocked)
  assert.deepEqual(await spans(), [{ unit: vm, ended_at: new Date(at('10:30:00')) }])
})

test('a tenant reads the hours and spans of its organisation, and writes none', async () => {
  await using cloud = await openMetered()
  const { clocked, principal, db } = cloud
  await sql`insert into usage_hour select gen_random_uuid(), now(), 1, 1, 1, 1, 1, 1, 1, 1, 1`.execute(
    db,
  )
  await setClock(clocked, at('11:30:00'))
  await foldUntil(clocked, at('11:00:00'))
  const own = await cloud.as(principal, (tx) => tx.selectFrom('usage_hour').select('org').execute())
  assert.deepEqual(own, [{ org: principal.org }])
  for (const table of ['usage_hour', 'usage_span', 'usage_folded']) {
    const writing = cloud.as(principal, (tx) => sql`delete from ${sql.table(table)}`.execute(tx))
    await assert.rejects(writing, /permission denied/, table)
  }
})

test('spans are kept for 100 days after their end, and hours for three years', async () => {
  await using cloud = await openCloudDatabase(postgres)
  const { db } = cloud
  await sql`insert into usage_span (org, kind, unit, began_at, ended_at)
    select gen_random_uuid(), 'address', gen_random_uuid(), at - interval '1 h', at
    from (select clock_timestamp() - n * interval '1 day' as at from generate_series(1, 200) n) old`.execute(
    db,
  )
  await sql`insert into usage_hour select gen_random_uuid(), clock_timestamp() - n * interval '1 year', 1, 1, 1, 1, 1, 1, 1, 1, 1
    from generate_series(1, 5) n`.execute(db)
  await deleteExpired(db)
  const left = async (table: 'usage_span' | 'usage_hour') =>
    (await db.selectFrom(table).select('org').execute()).length
  assert.deepEqual([await left('usage_span'), await left('usage_hour')], [99, 2])
})
