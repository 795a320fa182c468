import type { OrgId, TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import { emitEvents } from '../database/events.ts'
import type { TaskRow, Tx } from '../database/tables.ts'
import type { NetworkOperation } from '../domain/network-operations.ts'

/** What a change is about: the column of a task that names it. */
export type UnitKind = 'network' | 'edge_gateway'

/** The task of a change whose rows were written in the same transaction. It runs until the network server has projected them. */
export async function addUnitTask(
  tx: Tx,
  kind: UnitKind,
  { org, id, name }: { readonly org: OrgId; readonly id: string; readonly name: string },
  requested: { readonly operation: NetworkOperation; readonly owner: string; readonly id: TaskId },
): Promise<TaskRow> {
  const task = await tx
    .insertInto('task')
    .values({
      ...requested,
      org,
      [kind]: id,
      object_name: name,
      input: JSON.stringify(null),
      state: 'running' as const,
      started_at: sql<Date>`clock_timestamp()` as unknown as Date,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await emitEvents(tx, [
    { kind: 'task.queued', task },
    { kind: 'task.running', task },
  ])
  return task
}
