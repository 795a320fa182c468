import type { Goal } from '@skerry/host-api'
import type { HostId, TaskId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Database } from './database.ts'

export type Debt = Selectable<Database['debt']>

/** What a host must be made to be, once it can be reached again. The newest wish for an incarnation counts. */
export async function owe(
  db: Kysely<Database>,
  debt: {
    readonly host: HostId
    readonly vm: VmId
    readonly incarnation: string
    readonly goal: Goal
    readonly task: TaskId
  },
): Promise<void> {
  await db
    .insertInto('debt')
    .values({ ...debt, goal: JSON.stringify(debt.goal) })
    .onConflict((conflict) =>
      conflict
        .columns(['host', 'vm', 'incarnation'])
        .doUpdateSet({ goal: JSON.stringify(debt.goal), task: debt.task }),
    )
    .execute()
}

/** The debts of a host, each under a number of its own, so that what came before is refused. */
export async function debtsOf(
  db: Kysely<Database>,
  host: HostId,
): Promise<readonly (Debt & { readonly number: string })[]> {
  return db.transaction().execute(async (tx) => {
    const debts = await tx.selectFrom('debt').selectAll().where('host', '=', host).execute()
    const numbered: (Debt & { readonly number: string })[] = []
    for (const debt of debts) {
      const renumbered = await tx
        .updateTable('vm')
        .set({ number: sql`next_number()` })
        .where('id', '=', debt.vm)
        .where('host', '=', host)
        .where('incarnation', '=', debt.incarnation)
        .returning('number')
        .executeTakeFirst()
      const { rows } = renumbered
        ? { rows: [renumbered] }
        : await sql<{ number: string }>`select next_number() as number`.execute(tx)
      numbered.push({ ...debt, number: rows[0]?.number ?? '0' })
    }
    return numbered
  })
}

export async function forgive(db: Kysely<Database>, debt: Debt): Promise<void> {
  await db
    .deleteFrom('debt')
    .where('host', '=', debt.host)
    .where('vm', '=', debt.vm)
    .where('incarnation', '=', debt.incarnation)
    // Another wish may have taken its place while this one was paid. Not told apart by its time: the database's is finer than ours.
    .where('task', '=', debt.task)
    .where(sql<boolean>`goal = ${JSON.stringify(debt.goal)}::jsonb`)
    .execute()
}
