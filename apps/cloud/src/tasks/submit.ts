import { Fault } from '@skerry/fault'
import type { TaskId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Caller } from '../auth/caller.ts'
import type { RequestContext } from '../context.ts'
import { keepRequest } from '../database/request-keys.ts'
import type { Tx, TaskRow } from '../database/tables.ts'
import { findTask } from './find-task.ts'
import { requireQuotas } from './require-quotas.ts'
import type { Submitted } from './submit-task.ts'

/**
 * Submits every request that runs as a Task: request key, task, intent, event and the check of quotas in one transaction,
 * then the wake-up. A repeated key returns the same task, and nothing is submitted twice.
 */
export async function submit(
  context: RequestContext,
  { principal, request }: Pick<Caller, 'principal' | 'request'>,
  work: (tx: Tx, id: TaskId) => Promise<Submitted>,
): Promise<TaskRow> {
  const { task, vms } = await context.as(principal, async (tx): Promise<Submitted> => {
    const enter = async (id: TaskId): Promise<Submitted> => {
      const submitted = await work(tx, id)
      await requireQuotas(tx, submitted)
      return submitted
    }
    const fresh = await requireSound(tx)
    if (!request) return enter(fresh)
    const { task: id, again } = await keepRequest(tx, principal, request)
    if (!again) return enter(id)
    const before = await findTask(tx, id)
    if (!before) throw new Fault('not-found', 'the task of this request key no longer exists')
    return { task: before, vms: [], operations: [] }
  })
  for (const vm of vms) context.wake(vm)
  return task
}

/** Rejects changes after a restore, until the state of all hosts is known. Returns an id for a new task. */
export async function requireSound(tx: Tx): Promise<TaskId> {
  const cloud = await tx
    .selectFrom('cloud')
    .select(['recovering', sql<TaskId>`uuid_v7()`.as('id')])
    .executeTakeFirstOrThrow()
  if (!cloud.recovering) return cloud.id
  throw new Fault(
    'unavailable',
    'the cloud was restored from a backup and is reading the state of its hosts: nothing can be changed until that is done',
    { hint: 'retry later; administrators see the progress with skerry admin recovery info' },
  )
}
