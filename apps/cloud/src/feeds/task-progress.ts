import type { Message } from '@skerry/service'
import type { OrgId, TaskId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables, TaskRow } from '../database/tables.ts'
import { WAITING_MOST, type EventScope } from './feed.ts'

/** How often progress is read: a task has at most one message in this time. */
const EVERY_MS = 1000

/** A task whose progress has changed. The message has no id: it is not stored, and a reader that was away does not get it. */
export interface ChangedProgress {
  readonly org: OrgId
  readonly task: TaskId
  readonly message: Message
}

type RunningTask = Pick<TaskRow, 'id' | 'org' | 'vapp' | 'vm' | 'progress'>

/** Finds the running tasks whose progress has changed, by one query for all readers. */
export class TaskProgress {
  #known: ReadonlyMap<TaskId, number> = new Map()
  #readAt = Number.NEGATIVE_INFINITY

  /** `scopes`: of the readers that asked for progress. */
  async changed(
    db: Kysely<CloudTables>,
    scopes: ReadonlySet<EventScope>,
    now: number,
  ): Promise<readonly ChangedProgress[]> {
    if (scopes.size === 0 || now - this.#readAt < EVERY_MS) return []
    this.#readAt = now
    const running = await runningTasks(db, scopes)
    const known = this.#known
    this.#known = new Map(running.map(({ id, progress }) => [id, progress]))
    return running
      .filter(({ id, progress }) => known.get(id) !== progress)
      .map(({ id: task, org, vapp, vm, progress }) => ({
        org,
        task,
        message: { event: 'progress', data: { vapp, vm, task, progress } },
      }))
  }
}

/** The newest ones, if there are very many. */
async function runningTasks(
  db: Kysely<CloudTables>,
  scopes: ReadonlySet<EventScope>,
): Promise<readonly RunningTask[]> {
  const query = db
    .selectFrom('task')
    .select(['id', 'org', 'vapp', 'vm', 'progress'])
    .where('state', '=', 'running')
    .where('progress', '>', 0)
    .orderBy('id', 'desc')
    .limit(WAITING_MOST)
  // The condition on created_at is always true: an index for administrators has it.
  const scoped = scopes.has('all')
    ? query.where(sql<boolean>`created_at > '-infinity'`)
    : query.where(sql<boolean>`org = any(${[...scopes]}::uuid[])`)
  return scoped.execute()
}
