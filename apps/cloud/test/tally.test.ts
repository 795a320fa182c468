// Goal: a total is exact at every moment, during concurrent writes and folds. Method: writers, two folders and readers at the same
// time on a real Postgres; each reader compares the sum with the count in one statement.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../src/database/tables.ts'
import { foldTally } from '../src/database/tally.ts'
import { openCloudDatabase, startDatabases, type CloudDatabase } from './cloud-database.ts'
import { chance, pick } from './fuzz-filter.ts'
import { addMany } from './many-rows.ts'

const WRITES = 100

let postgres: Awaited<ReturnType<typeof startDatabases>>
let cloud: CloudDatabase
before(async () => {
  postgres = await startDatabases()
  cloud = await openCloudDatabase(postgres)
  await addMany(cloud, { vms: 2000, orgs: 4, giant: 500 })
})
after(async () => {
  await cloud[Symbol.asyncDispose]()
  await postgres[Symbol.asyncDispose]()
})

/** Every cell of the tally that differs from the rows, in one statement, so in one snapshot. */
const wrongCells = sql<{ org: string; displayed_status: string; told: string; counted: string }>`
  select org, vdc, displayed_status, coalesce(told, 0) as told, coalesce(counted, 0) as counted
  from (select org, vdc, displayed_status, sum(n) as told from (
      select org, vdc, displayed_status, n from vm_tally union all select org, vdc, displayed_status, n from vm_tally_delta) t group by 1, 2, 3) tally
  full join (select org, vdc, displayed_status, count(*) as counted from vm where deleted_at is null group by 1, 2, 3) vms
    using (org, vdc, displayed_status)
  where coalesce(told, 0) <> coalesce(counted, 0)`

/** The same for the whole cloud. */
const wrongSums = sql`
  select displayed_status, coalesce(told, 0) as told, coalesce(counted, 0) as counted
  from (select displayed_status, sum(n) as told from (
      select displayed_status, n from vm_tally_cloud union all select displayed_status, n from vm_tally_delta) t group by 1) tally
  full join (select displayed_status, count(*) as counted from vm where deleted_at is null group by 1) vms using (displayed_status)
  where coalesce(told, 0) <> coalesce(counted, 0)`

type Write = (db: Kysely<CloudTables>, some: number) => Promise<unknown>
const someOf = (some: number) =>
  sql`select id from vm order by md5(id::text || ${some}) limit ${1 + (some % 7)}`
const writes: readonly Write[] = [
  (db, some) =>
    sql`update vm set status = case status when 'POWERED_ON' then 'POWERED_OFF' else 'POWERED_ON' end
      where id in (${someOf(some)})`.execute(db),
  (db, some) =>
    sql`update vm set host_silent = not host_silent where id in (${someOf(some)})`.execute(db),
  (db, some) =>
    sql`update vm set deleted_at = case when deleted_at is null then now() end where id in (${someOf(some)})`.execute(
      db,
    ),
  (db, some) => sql`delete from vm where id in (${someOf(some)})`.execute(db),
  (db, some) =>
    sql`insert into vm (org, vapp, name, image, cpus, memory_mib, disk_mib)
      select org, vapp, name || uuid_v7(), image, 1, 64, 64 from vm where id in (${someOf(some)})`.execute(
      db,
    ),
  (db, some) =>
    sql`update vm set vapp = (select id from vapp where vapp.org = vm.org order by md5(id::text || ${some}) limit 1),
      name = name || uuid_v7() where id in (${someOf(some)})`.execute(db),
  (db, some) => sql`update vm set lease_until = now() where id in (${someOf(some)})`.execute(db),
]

test('totals are exact while four write and two fold, also if a writer rolls back', async () => {
  const { db } = cloud
  const writing = new Set([1, 2, 3, 4])
  const write = async (seed: number): Promise<void> => {
    const draw = chance(seed)
    for (let at = 0; at < WRITES; at += 1) {
      const some = Math.floor(draw() * 1e6)
      const undone = new Error('undone')
      await db
        .transaction()
        .execute(async (tx) => {
          for (let times = 1 + Math.floor(draw() * 2); times > 0; times -= 1)
            await pick(draw, writes)(tx, some)
          if (draw() < 0.1) throw undone
        })
        .catch((error: unknown) => {
          // Two writers change the same rows in different orders: Postgres aborts one of them, which leaves no changes.
          if (error !== undone && !/deadlock/.test(String(error))) throw error
        })
    }
    writing.delete(seed)
  }
  let folded = 0
  const fold = async (): Promise<void> => {
    while (writing.size > 0) folded += await foldTally(db)
  }
  let looks = 0
  const look = async (): Promise<void> => {
    for (; writing.size > 0; looks += 1) {
      const { rows } = await wrongCells.execute(db)
      assert.deepEqual(rows, [])
      assert.deepEqual((await wrongSums.execute(db)).rows, [])
    }
  }
  await Promise.all([...[...writing].map(write), fold(), fold(), look()])
  assert.ok(looks > 20 && folded > WRITES, `${looks} looks, ${folded} changes folded`)
  await foldTally(db)
  const { rows: left } = await sql`select from vm_tally_delta`.execute(db)
  assert.equal(left.length, 0)
  assert.deepEqual((await wrongCells.execute(db)).rows, [])
  assert.deepEqual((await wrongSums.execute(db)).rows, [])
})

test('a tenant sees the totals of its own organisation, and cannot delete any', async () => {
  const { principal } = cloud
  await cloud.addVms(3)
  const { rows } = await cloud.as(principal, (tx) =>
    sql<{ org: string }>`select org from vm_tally union select org from vm_tally_delta`.execute(tx),
  )
  assert.deepEqual(rows, [{ org: principal.org }])
  for (const statement of [
    sql`delete from vm_tally_delta`,
    sql`update vm_tally set n = 0`,
    sql`select from vm_tally_cloud`,
  ]) {
    await assert.rejects(
      cloud.as(principal, (tx) => statement.execute(tx)),
      /permission denied/,
    )
  }
  const { rows: orgs } = await cloud.as(principal, (tx) => sql`select id from org`.execute(tx))
  assert.equal(orgs.length, 1)
})
