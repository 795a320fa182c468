import { ensureSchedule, type Schedule, type TemporalClient } from '@skerry/temporal'

import { TASK_QUEUE } from '../tasks/queue-waker.ts'
import type { Reconcilers } from './reconcilers.ts'

const every = (
  workflow: keyof Reconcilers,
  id: string,
  everyMs: number,
  timeoutMs: number,
): Schedule => ({ id: `reconcile/${id}`, workflow, everyMs, timeoutMs, taskQueue: TASK_QUEUE })

/** The reconcilers and their intervals. Each runs one pass at a time in the whole cloud. */
export const schedules: readonly Schedule[] = [
  every('reconcilePower', 'power', 15_000, 5 * 60_000),
  every('reconcilePendingUndo', 'pending-undo', 30_000, 5 * 60_000),
  every('reconcileCounts', 'counts', 10 * 60_000, 5 * 60_000),
  every('reconcileEdgeGroups', 'edge-groups', 30_000, 5 * 60_000),
  every('reconcileLeases', 'leases', 60_000, 5 * 60_000),
  every('foldUsage', 'usage', 5 * 60_000, 5 * 60_000),
  every('reconcilePeople', 'people', 10 * 60_000, 5 * 60_000),
  every('deleteExpired', 'expired', 60 * 60_000, 60 * 60_000),
]

/** Idempotent; any number of cells may call it at once. */
export async function ensureSchedules(temporal: TemporalClient): Promise<void> {
  for (const schedule of schedules) await ensureSchedule(temporal, schedule)
}
