import { Fault } from '@skerry/fault'
import type { TaskId, VmId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Asker } from './http/asker.ts'
import { findTask } from './store/find-task.ts'
import type { Task } from './store/queue.ts'
import { keepRequest } from './store/request-keys.ts'
import type { RequestWorld, Tx } from './world.ts'

export interface Submitted {
  readonly task: Task
  readonly vms: readonly VmId[]
}

/**
 * Everything that ends as a Task begins here: request key, task, intent and event in one
 * transaction, then the bell. The same key again is the same task, and nothing is asked for twice.
 */
export async function submit(
  world: RequestWorld,
  { who, request }: Pick<Asker, 'who' | 'request'>,
  work: (tx: Tx, id: TaskId) => Promise<Submitted>,
): Promise<Task> {
  const { task, vms } = await world.as(who, async (tx): Promise<Submitted> => {
    const fresh = await requireSound(tx)
    if (!request) return work(tx, fresh)
    const { task: id, again } = await keepRequest(tx, who, request)
    if (!again) return work(tx, id)
    const before = await findTask(tx, id)
    if (!before) throw new Fault('not-found', 'the task of this key is no more')
    return { task: before, vms: [] }
  })
  for (const vm of vms) world.ring(vm)
  return task
}

/** After a restore nothing is accepted until it is known what there is. Answers with an id for a new task. */
export async function requireSound(tx: Tx): Promise<TaskId> {
  const cloud = await tx
    .selectFrom('cloud')
    .select(['recovering', sql<TaskId>`uuid_v7()`.as('id')])
    .executeTakeFirstOrThrow()
  if (!cloud.recovering) return cloud.id
  throw new Fault(
    'unavailable',
    'the cloud was restored from a backup and finds out what its hosts have: until then nothing can be changed',
    { hint: 'ask again later; administrators see how far it is by skerry cloud recover --status' },
  )
}
