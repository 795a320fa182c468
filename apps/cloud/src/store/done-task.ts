import type { OrgId, TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { VappId } from '../ids.ts'
import type { Tx } from '../world.ts'
import type { WrittenOperation } from '../written-operations.ts'
import { tell } from './events.ts'
import type { Task } from './queue.ts'

/** The vApp, or one of its VMs, that something is written down about. */
export interface Subject {
  readonly org: OrgId
  readonly vapp: VappId
  readonly vm: VmId | null
}

/** A task that has ended when it is first seen: in the same transaction as what it did. */
export async function addDoneTask(
  tx: Tx,
  { org, vapp, vm }: Subject,
  asked: { readonly operation: WrittenOperation; readonly owner: string; readonly id: TaskId },
): Promise<Task> {
  const now = sql<Date>`clock_timestamp()` as unknown as Date
  const task = await tx
    .insertInto('task')
    .values({
      ...{ ...asked, org, vapp, vm, input: JSON.stringify(null) },
      ...{ state: 'success' as const, progress: 100, started_at: now, ended_at: now },
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  await tell(tx, { kind: 'task.success', task })
  return task
}
