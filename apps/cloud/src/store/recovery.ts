import { Fault } from '@skerry/fault'
import type { HostRecord } from '@skerry/host-api'
import { raiseAbove, raiseEra } from '@skerry/postgres'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { isUuid } from '../ids.ts'
import type { Tx } from '../world.ts'
import { accountForAll } from './account-for.ts'
import type { Database } from './database.ts'
import { failTask } from './end-task.ts'
import { tell } from './events.ts'

const AT_ONCE = 500
const COUNTER_BITS = 40n
const NUMBER = /^(0|[1-9]\d{0,18})$/
const ASK_AGAIN =
  'the cloud was restored from a backup while this was asked for: look what there is, then ask again'

/**
 * A number that this database never gave out: of an era that it has not reached, or with a counter that it has not. The counter
 * goes on from era to era, so a standby that was promoted without the last of it is found out too.
 */
export const aheadOf = (highest: string) => sql<boolean>`${highest}::bigint > highest_number()
  or ${highest}::bigint % 1099511627776 > (select last_value from number_counter)`

/** From now on nothing is begun and nothing accepted, until it is known what there is. Said once, however many hosts say so. */
export async function beginRecovery(
  tx: Tx,
  why: { readonly host?: HostId; readonly highest?: string; readonly newEra?: true },
): Promise<boolean> {
  const { host, highest, newEra = false } = why
  const begun = await tx
    .updateTable('cloud')
    .set({
      ...{ recovering: true, recovering_since: sql<Date>`clock_timestamp()` },
      ...{ recovery: sql<number>`recovery + 1`, new_era: newEra, recovered: null },
    })
    .where('recovering', '=', false)
    .returning('id')
    .executeTakeFirst()
  if (!begun) return false
  await tx.deleteFrom('host_record').execute()
  const what = { ...(highest !== undefined && { highest }), newEra }
  await tell(tx, { kind: 'cloud.recovering', ...(host && { host }), what })
  return true
}

/** A cell has seen this number of this cloud: where the database has not, it was restored. True where that is so. */
export async function noticeRestore(db: Kysely<Database>, seen: string): Promise<boolean> {
  const isBehind = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ ahead: boolean }>`select ${aheadOf(seen)} as ahead`.execute(tx)
    if (rows[0]?.ahead !== true) return false
    await beginRecovery(tx, { highest: seen })
    return true
  })
  // No host may have seen it; it must not be found ahead once more when the next cell starts.
  if (isBehind) await raiseAbove(db, seen)
  return isBehind
}

/** Which recovery is on, if any. */
export async function recoveryNow(db: Kysely<Database>): Promise<number | undefined> {
  const cloud = await db
    .selectFrom('cloud')
    .select(['recovering', 'recovery'])
    .executeTakeFirstOrThrow()
  return cloud.recovering ? cloud.recovery : undefined
}

/** What a restored database thinks is asked for may be over long ago: it is not done again, whoever asked may ask again. */
export async function endOpenTasks(db: Kysely<Database>): Promise<void> {
  for (;;) {
    const open = await db
      .selectFrom('task')
      .select('id')
      .where('vm', 'is not', null)
      .where('state', 'in', ['queued', 'running'])
      // The last first: nothing that waits behind another may begin when that one ends.
      .orderBy('place', 'desc')
      .limit(AT_ONCE)
      .execute()
    for (const { id } of open) await failTask(db, id, ASK_AGAIN)
    if (open.length < AT_ONCE) return
  }
}

/** All that a host remembers, in the place of what it said before; with the last of it the host is read. */
export async function keepRecords(
  db: Kysely<Database>,
  host: HostId,
  recovery: number,
  records: readonly HostRecord[],
): Promise<void> {
  const rows = records.filter(({ vm }) => isUuid(vm)).map((record) => rowOf(host, record))
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('host_record').where('host', '=', host).execute()
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      const some = rows.slice(at, at + AT_ONCE)
      await tx.insertInto('host_record').values(some).execute()
    }
    const read = await tx
      .updateTable('host')
      .set({ read_in: recovery })
      .where('id', '=', host)
      .where((eb) => eb.exists(eb.selectFrom('cloud').where('recovery', '=', recovery)))
      .returning('id')
      .executeTakeFirst()
    // A recovery that is over has taken its records with it.
    if (!read) throw new Fault('conflict', `recovery ${recovery} is over`)
  })
}

function rowOf(host: HostId, record: HostRecord) {
  const { vm, incarnation, highest, there, gone, lost = false, deed } = record
  if (!NUMBER.test(incarnation) || !NUMBER.test(highest)) {
    throw new Fault('invalid', `host ${host} says a number of VM ${vm} that is none`)
  }
  return {
    ...{ host, vm, incarnation, highest, there, lost, gone: gone !== undefined },
    deed: deed === undefined ? null : JSON.stringify(deed),
  }
}

/** The hosts that are still waited for. */
export async function waitedFor(
  db: Kysely<Database>,
  recovery: number,
): Promise<readonly { readonly id: HostId }[]> {
  return db
    .selectFrom('host')
    .select('id')
    .where('state', '=', 'joined')
    .where('read_in', '<', recovery)
    .where('waived_in', '<', recovery)
    .execute()
}

/** An administrator does without what this host has: its VMs stay UNKNOWN until it is seen again. */
export async function waiveHost(db: Kysely<Database>, id: HostId): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const recovery = await recoveryNow(tx)
    if (recovery === undefined) {
      throw new Fault('conflict', 'the cloud is not recovering: no host is waited for')
    }
    const waived = await tx
      .updateTable('host')
      .set({ waived_in: recovery })
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirst()
    if (!waived) {
      throw new Fault('not-found', `there is no host ${id}`, { hint: 'skerry cloud host list' })
    }
    await tell(tx, { kind: 'host.waived', host: id })
  })
}

/**
 * Once every host was read or waived: numbers go above all that were ever seen, every VM is accounted for, and the cloud goes
 * on. False while somebody is waited for.
 */
export async function finishRecovery(db: Kysely<Database>, recovery: number): Promise<boolean> {
  if ((await waitedFor(db, recovery)).length > 0) return false
  const highest = await highestSeen(db)
  // Committed by itself, before anything is given out: raised twice is only higher.
  const { new_era: newEra } = await db
    .selectFrom('cloud')
    .select('new_era')
    .executeTakeFirstOrThrow()
  if (newEra) await raiseEra(db, BigInt(highest) >> COUNTER_BITS)
  await raiseAbove(db, highest)
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql`select from cloud where recovering and recovery = ${recovery}
      and not exists (select from task where vm is not null and state in ('queued', 'running'))
      for update`.execute(tx)
    if (rows.length === 0 || (await waitedFor(tx, recovery)).length > 0) return false
    const found = await accountForAll(tx, recovery)
    await tx.deleteFrom('host_record').execute()
    await tx
      .updateTable('cloud')
      .set({
        ...{ recovering: false, recovering_since: null, new_era: false },
        recovered: JSON.stringify(found),
      })
      .execute()
    await tell(tx, { kind: 'cloud.recovered', what: found })
    return true
  })
}

/** The highest era and the highest counter that a host or a row has seen. They need not come from the same number. */
async function highestSeen(db: Kysely<Database>): Promise<string> {
  const { rows } = await sql<{ highest: string }>`
    select max(number / 1099511627776) * 1099511627776 + max(number % 1099511627776) as highest from (
      select highest_number() as number
      union all select greatest(highest, session) from host where state = 'joined'
        and not waived_in = (select recovery from cloud)
      union all select greatest(highest, incarnation) from host_record
      union all select greatest(number, incarnation) from vm
    ) seen`.execute(db)
  return rows[0]?.highest ?? '0'
}
