import type { HostApi, HostRecord } from '@skerry/host-api'
import type { Kysely } from 'kysely'

import type { Database } from '../store/database.ts'
import type { HostRow } from '../store/hosts.ts'
import { endOpenTasks, finishRecovery, keepRecords, recoveryNow } from '../store/recovery.ts'

const AT_ONCE = 20
/** A host that has joined says this much at the most; one that says more is not believed. */
const RECORDS_MAX = 1_000_000

export interface Recovering {
  readonly db: Kysely<Database>
  readonly cell: string
  readonly log: (message: string, cause?: unknown) => void
  connect(host: HostRow): HostApi
}

/**
 * One pass of one cell while the cloud recovers: what is open ends, the hosts that this cell follows are read, and whoever finds
 * all of them read accounts for everything. Any cell may die at any point: the next pass of any other goes on.
 */
export async function recoverHosts(world: Recovering, signal: AbortSignal): Promise<void> {
  const { db, cell, log } = world
  const recovery = await recoveryNow(db)
  if (recovery === undefined) return
  await endOpenTasks(db)
  const unread = await db
    .selectFrom('host')
    .selectAll()
    .where('follower', '=', cell)
    .where('state', '=', 'joined')
    .where('read_in', '<', recovery)
    .execute()
  const read = async (host: HostRow): Promise<void> => {
    const records: HostRecord[] = []
    for await (const record of world.connect(host).records(signal)) {
      records.push(record)
      if (records.length > RECORDS_MAX) throw new Error('it says that it has too many VMs')
    }
    await keepRecords(db, host.id, recovery, records)
    log(`host ${host.id}: ${records.length} records were read`)
  }
  for (let at = 0; at < unread.length; at += AT_ONCE) {
    await Promise.all(
      unread.slice(at, at + AT_ONCE).map(async (host) => {
        await read(host).catch((error: unknown) =>
          log(`host ${host.id} cannot be read: ${(error as Error).message}`),
        )
      }),
    )
  }
  if (await finishRecovery(db, recovery))
    log('the cloud has recovered: skerry cloud recover --status')
}
