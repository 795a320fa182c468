import { raiseEra } from '@skerry/postgres'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { beginRecovery } from './recovery.ts'

export interface RecoveryStatus {
  readonly recovering: boolean
  readonly since: Date | null
  /** The findings of the last recovery, by kind. */
  readonly found: Readonly<Record<string, number>> | null
  readonly era: string
  readonly hosts: readonly {
    readonly id: HostId
    readonly name: string
    readonly is: 'read' | 'waived' | 'waited for'
    readonly seenAt: Date | null
  }[]
}

export async function recoveryStatus(db: Kysely<CloudTables>): Promise<RecoveryStatus> {
  const { rows } = await sql<{ era: string }>`select current_era() as era`.execute(db)
  const cloud = await db.selectFrom('cloud').selectAll().executeTakeFirstOrThrow()
  const { recovering, recovery, recovering_since: since, recovered: found } = cloud
  const joined = await db
    .selectFrom('host')
    .select(['id', 'name', 'recovery_read', 'recovery_waived', 'seen_at'])
    .where('state', '=', 'joined')
    .orderBy('name')
    .execute()
  const hosts = joined.map(
    ({ id, name, recovery_read: read, recovery_waived: waived, seen_at: seenAt }) => ({
      id,
      name,
      seenAt,
      is:
        read === recovery
          ? ('read' as const)
          : waived === recovery
            ? ('waived' as const)
            : ('waited for' as const),
    }),
  )
  return { recovering, since, found, era: rows[0]?.era ?? '', hosts: recovering ? hosts : [] }
}

/**
 * For a copy of the database in a new cluster: its timeline starts again, and the old cluster may still issue fencing tokens. The era
 * is raised now, and again above every era that a host has seen before any work starts. False if it was already called.
 */
export async function beginNewEra(db: Kysely<CloudTables>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{ new_era: boolean; era: string }>`
      select new_era, current_era() as era from cloud for update`.execute(tx)
    const [cloud] = rows
    if (!cloud || cloud.new_era) return false
    await raiseEra(tx, BigInt(cloud.era))
    if (!(await beginRecovery(tx, { newEra: true }))) {
      await tx.updateTable('cloud').set({ new_era: true }).execute()
    }
    // A new cluster counts transactions from the start: copied events must sort before all new ones, in their order.
    await sql`update event set tx = '1' where tx <> pg_current_xact_id()
      and exists (select from event later where later.tx > pg_current_xact_id())`.execute(tx)
    return true
  })
}
