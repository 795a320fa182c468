// npm run prove:usage [-- --changes N] [--vms N] Goal: what organisations use is exact, and metering has a small cost: no row of any hour
// differs from a model, an hour of a million VMs is summed up within 5 s, and a power change takes at most 150 µs longer. Method: random
// changes against a model in whole milliseconds; a real PostgreSQL with a million VMs of a thousand organisations, with the triggers and
// without them in turn.
import { parseArgs } from 'node:util'

import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../../apps/cloud/src/database/tables.ts'
import { foldUsage } from '../../apps/cloud/src/metering/fold-usage.ts'
import { readUsagePeriods } from '../../apps/cloud/src/metering/read-usage.ts'
import { openCloudDatabase, startDatabases } from '../../apps/cloud/test/cloud-database.ts'
import { addMany, GIANT } from '../../apps/cloud/test/many-rows.ts'
import { compareWithModel } from '../../apps/cloud/test/usage-lives.ts'
import { openClocked, setClock, takeClock } from '../../apps/cloud/test/usage-model.ts'

const { values } = parseArgs({
  options: {
    changes: { type: 'string', default: '100000' },
    vms: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '5' },
  },
})
const [CHANGES, VMS, ROUNDS] = [values.changes, values.vms, values.rounds].map(Number) as [
  number,
  number,
  number,
]
const GOAL_SECONDS = 5
const GOAL_MICROSECONDS = 150
const HOUR_MS = 3_600_000
const AT_ONCE = Math.min(20_000, VMS / 10)
const say = (line: string): void => void process.stdout.write(`${line}\n`)
const median = (all: readonly number[]): number =>
  all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** The rows that differ from the model. */
async function proveExact(): Promise<number> {
  await using postgres = await startDatabases()
  await using cloud = await openCloudDatabase(postgres)
  const began = performance.now()
  const found = await compareWithModel(cloud, { changes: CHANGES, seed: 7, meanMs: 60_000 })
  const { rows, folds, rolledBack, differing, notRepeated } = found
  say(
    `${CHANGES} changes (${rolledBack} rolled back), ${folds} hours, ${rows} rows in ${((performance.now() - began) / 1000).toFixed(0)} s: ` +
      `${differing.length} differ from the model, ${notRepeated} differ when they are summed up again`,
  )
  for (const key of differing.slice(0, 5)) say(`  ${key}`)
  return differing.length + notRepeated
}

/** As its host reports it; one statement, so that the cost of a row is what differs. */
const changePower = (db: Kysely<CloudTables>, first: number) =>
  sql`update vm set status = case status when 'POWERED_ON' then 'POWERED_OFF' else 'POWERED_ON' end
    where id in (select id from vm where deleted_at is null order by id offset ${first} limit ${AT_ONCE})`.execute(
    db,
  )

/** Microseconds that a power change takes longer with metering: the median of the rounds. */
async function measureChange(owner: Kysely<CloudTables>): Promise<number> {
  const [metered, plain]: [number[], number[]] = [[], []]
  await changePower(owner, 0)
  for (let round = 0; round < ROUNDS; round += 1) {
    await setClock(owner, START + HOUR_MS / 2 + round * 1000)
    metered.push(await timed(() => changePower(owner, AT_ONCE)))
    await sql`alter table vm disable trigger meter_changed_vm`.execute(owner)
    plain.push(await timed(() => changePower(owner, 2 * AT_ONCE)))
    await sql`alter table vm enable trigger meter_changed_vm`.execute(owner)
  }
  const [more, less] = [median(metered), median(plain)].map((ms) => (ms * 1000) / AT_ONCE) as [
    number,
    number,
  ]
  say(
    `a power change: ${more.toFixed(0)} µs with metering, ${less.toFixed(0)} µs without, ${(more - less).toFixed(0)} µs more; goal ${GOAL_MICROSECONDS}`,
  )
  const claims = await timed(() =>
    sql`update vm set fence = fence + 1 where id in (select id from vm where deleted_at is null order by id limit ${AT_ONCE})`.execute(
      owner,
    ),
  )
  say(`a claim, which is not metered: ${((claims * 1000) / AT_ONCE).toFixed(0)} µs`)
  return more - less
}

let START = 0

/** The longest of some hours in seconds. */
async function measureFold(db: Kysely<CloudTables>): Promise<number> {
  const times: number[] = []
  for (let hour = 1; hour <= ROUNDS; hour += 1) {
    await setClock(db, START + hour * HOUR_MS + 120_000)
    let folded = 0
    times.push(await timed(async () => (folded = await foldUsage(db))))
    if (folded !== 1) throw new Error(`${folded} hours were summed up`)
  }
  const { rows } = await sql<{ n: string; spans: string }>`
    select (select count(*) from usage_hour) as n, (select count(*) from usage_span) as spans`.execute(
    db,
  )
  const seconds = times.map((ms) => ms / 1000)
  say(
    `an hour of ${VMS} VMs, with ${rows[0]?.spans} spans: ${seconds.map((each) => each.toFixed(2)).join(', ')} s (${rows[0]?.n} rows); goal ${GOAL_SECONDS}`,
  )
  return Math.max(...seconds)
}

async function measureRead(db: Kysely<CloudTables>): Promise<void> {
  const org = await db
    .selectFrom('org')
    .select('id')
    .where('name', '=', GIANT)
    .executeTakeFirstOrThrow()
  const range = {
    from: new Date(START),
    to: new Date(START + 24 * HOUR_MS),
    by: 'hour',
  } as const
  const times: number[] = []
  for (let n = 0; n < 5; n += 1) {
    times.push(
      await timed(() => db.transaction().execute((tx) => readUsagePeriods(tx, org.id, range))),
    )
  }
  say(`the hours of the largest organisation, with the current one: ${median(times).toFixed(0)} ms`)
}

async function proveMillion(): Promise<boolean> {
  await using postgres = await startDatabases()
  await using cloud = await openCloudDatabase(postgres)
  const orgs = Math.min(1000, Math.ceil(VMS / 10))
  const filled = await timed(() => addMany(cloud, { vms: VMS, orgs, giant: VMS / 5 }))
  say(`${VMS} VMs of ${orgs} organisations in ${(filled / 1000).toFixed(0)} s`)
  const { until } = await cloud.db
    .selectFrom('usage_folded')
    .select('until')
    .executeTakeFirstOrThrow()
  // All of them are there by then.
  START = until.getTime() + HOUR_MS
  await sql`update usage_folded set until = ${new Date(START)}`.execute(cloud.db)
  await takeClock(cloud)
  const more = await cloud.asOwner((owner) =>
    owner.connection().execute(async (one) => {
      await setClock(one, START)
      return measureChange(one)
    }),
  )
  const db = openClocked(cloud)
  try {
    await sql`select 1`.execute(db)
    const longest = await measureFold(db)
    await measureRead(db)
    return more <= GOAL_MICROSECONDS && longest <= GOAL_SECONDS
  } finally {
    await db.destroy()
  }
}

const wrong = CHANGES > 0 ? await proveExact() : 0
const isFast = VMS > 0 ? await proveMillion() : true
if (wrong > 0 || !isFast) process.exitCode = 1
