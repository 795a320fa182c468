import type { Goal } from '@skerry/host-api'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

export type PendingUndo = Selectable<CloudTables['pending_undo']>

/** Stores an undo to execute when the host is reachable again. The newest goal for an incarnation replaces earlier ones. */
export async function deferUndo(
  db: Kysely<CloudTables>,
  pending: {
    readonly host: HostId
    readonly vm: VmId
    readonly incarnation: string
    readonly goal: Goal
    readonly task: TaskId
  },
): Promise<void> {
  await db
    .insertInto('pending_undo')
    .values({ ...pending, goal: JSON.stringify(pending.goal) })
    .onConflict((conflict) =>
      conflict
        .columns(['host', 'vm', 'incarnation'])
        .doUpdateSet({ goal: JSON.stringify(pending.goal), task: pending.task }),
    )
    .execute()
}

/** The pending undos of a host, each under a new fencing token, so that earlier orders are rejected. */
export async function pendingUndosOf(
  db: Kysely<CloudTables>,
  host: HostId,
): Promise<readonly (PendingUndo & { readonly fence: string })[]> {
  return db.transaction().execute(async (tx) => {
    const all = await tx.selectFrom('pending_undo').selectAll().where('host', '=', host).execute()
    const numbered: (PendingUndo & { readonly fence: string })[] = []
    for (const pending of all) {
      const renumbered = await tx
        .updateTable('vm')
        .set({ fence: sql`next_fence()` })
        .where('id', '=', pending.vm)
        .where('host', '=', host)
        .where('incarnation', '=', pending.incarnation)
        .returning('fence')
        .executeTakeFirst()
      const { rows } = renumbered
        ? { rows: [renumbered] }
        : await sql<{ fence: string }>`select next_fence() as fence`.execute(tx)
      numbered.push({ ...pending, fence: rows[0]?.fence ?? '0' })
    }
    return numbered
  })
}

export async function dropPendingUndo(
  db: Kysely<CloudTables>,
  pending: PendingUndo,
): Promise<void> {
  await db
    .deleteFrom('pending_undo')
    .where('host', '=', pending.host)
    .where('vm', '=', pending.vm)
    .where('incarnation', '=', pending.incarnation)
    // Another goal may have replaced it during execution. Its time cannot distinguish them: the database's clock is finer than ours.
    .where('task', '=', pending.task)
    .where(sql<boolean>`goal = ${JSON.stringify(pending.goal)}::jsonb`)
    .execute()
}
