import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { QueueWaker } from '../tasks/queue-waker.ts'
import { takeUnattended } from '../tasks/unattended.ts'

const AT_ONCE = 200
/** After three unanswered wake-ups the workflow run is restarted: it may wait for ever for code that no longer exists. */
const IN_VAIN = 3

/**
 * Attends to every queue without a run: wake-ups and runs may be lost, tasks may not. A run that exists
 * but has not started its turn yet needs no wake-up; one that never starts it is restarted.
 */
export async function sweep(db: Kysely<CloudTables>, waker: QueueWaker): Promise<number> {
  const waiting = await takeUnattended(db, AT_ONCE)
  await Promise.allSettled(
    waiting.map(({ id, wakeAttempts }) =>
      wakeAttempts % IN_VAIN === 0 ? waker.restart(id) : waker.ensureRunning(id),
    ),
  )
  return waiting.length
}
