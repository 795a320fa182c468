import type { HostApi, HostRecord } from '@skerry/host-api'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { endOpenTasks, finishRecovery, keepRecords, recoveryNow } from '../recovery/recovery.ts'
import type { HostRow } from './hosts.ts'

const AT_ONCE = 20
/** The most records that a host may report; a host that reports more is rejected. */
const RECORDS_MAX = 1_000_000

export interface RecoverContext {
  readonly db: Kysely<CloudTables>
  readonly cell: string
  readonly log: (message: string, cause?: unknown) => void
  connect(host: HostRow): HostApi
}

/**
 * One pass of one cell while the cloud recovers: it ends open tasks and reads the hosts that this cell follows. The cell that finds
 * all hosts read accounts for every VM. Any cell may die at any point: the next pass of any other cell continues.
 */
export async function recoverHosts(context: RecoverContext, signal: AbortSignal): Promise<void> {
  const { db, cell, log } = context
  const recovery = await recoveryNow(db)
  if (recovery === undefined) return
  await endOpenTasks(db)
  const unread = await db
    .selectFrom('host')
    .selectAll()
    .where('follower', '=', cell)
    .where('state', '=', 'joined')
    .where('recovery_read', '<', recovery)
    .execute()
  const read = async (host: HostRow): Promise<void> => {
    const records: HostRecord[] = []
    for await (const record of context.connect(host).records(signal)) {
      records.push(record)
      if (records.length > RECORDS_MAX) throw new Error('it reports too many VMs')
    }
    await keepRecords(db, host.id, recovery, records)
    log(`host ${host.id}: read ${records.length} records`)
  }
  for (let at = 0; at < unread.length; at += AT_ONCE) {
    await Promise.all(
      unread.slice(at, at + AT_ONCE).map(async (host) => {
        await read(host).catch((error: unknown) =>
          log(`cannot read the records of host ${host.id}: ${(error as Error).message}`),
        )
      }),
    )
  }
  if (await finishRecovery(db, recovery))
    log('recovery finished; findings: skerry admin recovery info')
}
