import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, TaskRow } from '../database/tables.ts'
import type { WrittenOperation } from '../domain/immediate-operations.ts'
import type { Subject } from '../inventory/vapps.ts'

/** A task that is inserted as ended, in the same transaction as its effect. */
export async function addDoneTask(
  tx: Tx,
  { org, vapp, vm }: Subject,
  requested: { readonly operation: WrittenOperation; readonly owner: string; readonly id: TaskId },
): Promise<TaskRow> {
  const now = sql<Date>`clock_timestamp()` as unknown as Date
  const task = await tx
    .insertInto('task')
    .values({
      ...requested,
      org,
      vapp,
      vm,
      input: JSON.stringify(null),
      state: 'success' as const,
      progress: 100,
      started_at: now,
      ended_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEvent(tx, { kind: 'task.success', task })
  return task
}
