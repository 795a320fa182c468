import { raiseEra } from '@skerry/postgres'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Database } from './database.ts'
import { beginRecovery } from './recovery.ts'

export interface RecoveryStatus {
  readonly recovering: boolean
  readonly since: Date | null
  /** What the last recovery found, by kind. */
  readonly found: Readonly<Record<string, number>> | null
  readonly era: string
  readonly hosts: readonly {
    readonly id: HostId
    readonly name: string
    readonly is: 'read' | 'waived' | 'waited for'
    readonly seenAt: Date | null
  }[]
}

export async function recoveryStatus(db: Kysely<Database>): Promise<RecoveryStatus> {
  const { rows } = await sql<{ era: string }>`select current_era() as era`.execute(db)
  const cloud = await db.selectFrom('cloud').selectAll().executeTakeFirstOrThrow()
  const { recovering, recovery, recovering_since: since, recovered: found } = cloud
  const joined = await db
    .selectFrom('host')
    .select(['id', 'name', 'read_in', 'waived_in', 'seen_at'])
    .where('state', '=', 'joined')
    .orderBy('name')
    .execute()
  const hosts = joined.map(({ id, name, read_in, waived_in, seen_at: seenAt }) => ({
    ...{ id, name, seenAt },
    is:
      read_in === recovery
        ? ('read' as const)
        : waived_in === recovery
          ? ('waived' as const)
          : ('waited for' as const),
  }))
  return { recovering, since, found, era: rows[0]?.era ?? '', hosts: recovering ? hosts : [] }
}

/**
 * This database is a copy in a new cluster: its timeline begins anew, and the old one may still give out numbers. Its era rises
 * now, and above every one that a host has seen before anything is begun. False where that was said before.
 */
export async function beginNewEra(db: Kysely<Database>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ new_era: boolean; era: string }>`
      select new_era, current_era() as era from cloud for update`.execute(tx)
    const [cloud] = rows
    if (!cloud || cloud.new_era) return false
    await raiseEra(tx, BigInt(cloud.era))
    if (!(await beginRecovery(tx, { newEra: true }))) {
      await tx.updateTable('cloud').set({ new_era: true }).execute()
    }
    // Transactions are counted anew in a new cluster: what was copied lies before all that comes, in the order it had.
    await sql`update event set tx = '1' where tx <> pg_current_xact_id()
      and exists (select from event later where later.tx > pg_current_xact_id())`.execute(tx)
    return true
  })
}
