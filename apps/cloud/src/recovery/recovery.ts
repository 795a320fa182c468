import { Fault } from '@skerry/fault'
import type { HostRecord } from '@skerry/host-api'
import { raiseAbove, raiseEra } from '@skerry/postgres'
import { isUuid, type HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import { rowBatches } from '../database/row-batches.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { failTask } from '../tasks/end-task.ts'
import { accountForAll } from './account-for.ts'

const TASKS_AT_ONCE = 500
const COUNTER_BITS = 40n
const NUMBER = /^(0|[1-9]\d{0,18})$/
const ASK_AGAIN =
  'the cloud was restored from a backup during this task: check the current state, then try again'

/**
 * A fencing token that this database never issued: of a later era, or with a higher counter. The counter continues from era to
 * era, so a promoted standby that lacks the last transactions is detected too.
 */
export const aheadOf = (highest: string) => sql<boolean>`${highest}::bigint > highest_fence()
  or ${highest}::bigint % 1099511627776 > (select last_value from fence_counter)`

/** From now on no task starts and no change is accepted until the state is known. Only the first of several calls has an effect. */
export async function beginRecovery(
  tx: Tx,
  why: { readonly host?: HostId; readonly highest?: string; readonly newEra?: true },
): Promise<boolean> {
  const { host, highest, newEra = false } = why
  const begun = await tx
    .updateTable('cloud')
    .set({
      recovering: true,
      recovering_since: sql<Date>`clock_timestamp()`,
      recovery: sql<number>`recovery + 1`,
      new_era: newEra,
      recovered: null,
    })
    .where('recovering', '=', false)
    .returning('id')
    .executeTakeFirst()
  if (!begun) return false
  await tx.deleteFrom('host_record').execute()
  const what = { ...(highest !== undefined && { highest }), newEra }
  await emitEvent(tx, { kind: 'cloud.recovering', ...(host && { host }), details: what })
  return true
}

/** Compares a fencing token that a cell has seen with the database. True if the database never issued it, that is, was restored. */
export async function noticeRestore(db: Kysely<CloudTables>, seen: string): Promise<boolean> {
  const isBehind = await db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ ahead: boolean }>`select ${aheadOf(seen)} as ahead`.execute(tx)
    if (rows[0]?.ahead !== true) return false
    await beginRecovery(tx, { highest: seen })
    return true
  })
  // Perhaps no host has seen the token; it must not trigger another recovery when the next cell starts.
  if (isBehind) await raiseAbove(db, seen)
  return isBehind
}

/** The number of the current recovery, if any. */
export async function recoveryNow(db: Kysely<CloudTables>): Promise<number | undefined> {
  const cloud = await db
    .selectFrom('cloud')
    .select(['recovering', 'recovery'])
    .executeTakeFirstOrThrow()
  return cloud.recovering ? cloud.recovery : undefined
}

/** Open tasks of a restored database may have ended long ago: they are not repeated; users can submit them again. */
export async function endOpenTasks(db: Kysely<CloudTables>): Promise<void> {
  for (;;) {
    const open = await db
      .selectFrom('task')
      .select('id')
      .where('vm', 'is not', null)
      .where('state', 'in', ['queued', 'running'])
      // The last first, so that no task starts when the one before it ends.
      .orderBy('position', 'desc')
      .limit(TASKS_AT_ONCE)
      .execute()
    for (const { id } of open) await failTask(db, id, ASK_AGAIN)
    if (open.length < TASKS_AT_ONCE) return
  }
}

/** Replaces the stored records of a host with all of its records, and marks the host as read. */
export async function keepRecords(
  db: Kysely<CloudTables>,
  host: HostId,
  recovery: number,
  records: readonly HostRecord[],
): Promise<void> {
  const rows = records.filter(({ vm }) => isUuid(vm)).map((record) => rowOf(host, record))
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('host_record').where('host', '=', host).execute()
    for (const some of rowBatches(rows)) {
      await tx.insertInto('host_record').values(some).execute()
    }
    const read = await tx
      .updateTable('host')
      .set({ recovery_read: recovery })
      .where('id', '=', host)
      .where((eb) => eb.exists(eb.selectFrom('cloud').where('recovery', '=', recovery)))
      .returning('id')
      .executeTakeFirst()
    // The end of a recovery deletes its records.
    if (!read) throw new Fault('conflict', `recovery ${recovery} has ended`)
  })
}

function rowOf(host: HostId, record: HostRecord) {
  const { vm, incarnation, highest, exists, gone, lost = false, spec } = record
  if (!NUMBER.test(incarnation) || !NUMBER.test(highest)) {
    throw new Fault(
      'invalid',
      `host ${host} reports an invalid fencing token or incarnation of VM ${vm}`,
    )
  }
  return {
    host,
    vm,
    incarnation,
    highest,
    there: exists,
    lost,
    gone: gone !== undefined,
    spec: spec === undefined ? null : JSON.stringify(spec),
  }
}

/** The hosts that are neither read nor waived. */
export async function waitedFor(
  db: Kysely<CloudTables>,
  recovery: number,
): Promise<readonly { readonly id: HostId }[]> {
  return db
    .selectFrom('host')
    .select('id')
    .where('state', '=', 'joined')
    .where('recovery_read', '<', recovery)
    .where('recovery_waived', '<', recovery)
    .execute()
}

/** An administrator continues without this host: its VMs stay UNKNOWN until it is seen again. */
export async function waiveHost(db: Kysely<CloudTables>, id: HostId): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const recovery = await recoveryNow(tx)
    if (recovery === undefined) {
      throw new Fault('conflict', 'the cloud is not recovering: there is no host to waive')
    }
    const waived = await tx
      .updateTable('host')
      .set({ recovery_waived: recovery })
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirst()
    if (!waived) {
      throw new Fault('not-found', `host not found: ${id}`, { hint: 'skerry admin host list' })
    }
    await emitEvent(tx, { kind: 'host.waived', host: id })
  })
}

/**
 * Once every host is read or waived: raises the fencing tokens above all that were ever seen, accounts for every VM, and ends the
 * recovery. False while a host is missing.
 */
export async function finishRecovery(db: Kysely<CloudTables>, recovery: number): Promise<boolean> {
  if ((await waitedFor(db, recovery)).length > 0) return false
  const highest = await highestSeen(db)
  // Committed separately, before any token is issued; raising twice is harmless.
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
    // Another network server may have had a zone since the backup: the next one, also the same, gets a token above all others.
    await tx.updateTable('network_zone').set({ holder: null, lease_until: null }).execute()
    await tx
      .updateTable('cloud')
      .set({
        recovering: false,
        recovering_since: null,
        new_era: false,
        recovered: JSON.stringify(found),
      })
      .execute()
    await emitEvent(tx, { kind: 'cloud.recovered', details: found })
    return true
  })
}

/** The highest era and the highest counter that a host or a row has seen. They may come from different tokens. */
async function highestSeen(db: Kysely<CloudTables>): Promise<string> {
  const { rows } = await sql<{ highest: string }>`
    select max(fence / 1099511627776) * 1099511627776 + max(fence % 1099511627776) as highest from (
      select highest_fence() as fence
      union all select greatest(highest, session) from host where state = 'joined'
        and not recovery_waived = (select recovery from cloud)
      union all select greatest(highest, incarnation) from host_record
      union all select greatest(fence, incarnation) from vm
    ) seen`.execute(db)
  return rows[0]?.highest ?? '0'
}
