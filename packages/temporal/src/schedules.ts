// Periodic work with Temporal Schedules.
import { isDeepStrictEqual } from 'node:util'

import {
  type ScheduleDescription,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client'

import type { TemporalClient } from './connect.ts'

export interface Schedule {
  readonly id: string
  /** Interval between two starts. */
  readonly everyMs: number
  /** The workflow type. It gets no input: it reads the current state each time. */
  readonly workflow: string
  readonly taskQueue: string
  /** Timeout of a run, so that a hanging one does not block all later ones; default: ten times `everyMs`. */
  readonly timeoutMs?: number
}

/**
 * Ensures that a schedule exists with these values. A start is skipped while the last run is still open, and missed
 * starts are not repeated. Any number of cells may call it at once.
 */
export async function ensureSchedule(temporal: TemporalClient, schedule: Schedule): Promise<void> {
  const wanted = optionsOf(schedule)
  await temporal.within(async (client) => {
    try {
      await client.schedule.create({ ...wanted, scheduleId: schedule.id })
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      const handle = client.schedule.getHandle(schedule.id)
      // An update is a write and restarts the schedule, so it is done only if the values differ.
      if (isDeepStrictEqual(saidBy(await handle.describe()), saidOf(schedule))) return
      await handle.update(() => ({ ...wanted, state: {} }))
    }
  })
}

function optionsOf(schedule: Schedule) {
  return {
    spec: { intervals: [{ every: schedule.everyMs }] },
    action: {
      type: 'startWorkflow' as const,
      workflowId: schedule.id,
      workflowType: schedule.workflow,
      taskQueue: schedule.taskQueue,
      args: [],
      workflowExecutionTimeout: timeoutOf(schedule),
      workflowTaskTimeout: '5s' as const,
    },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: '10s' as const },
  }
}

const timeoutOf = ({ everyMs, timeoutMs }: Schedule): number => timeoutMs ?? everyMs * 10

function saidOf(schedule: Schedule) {
  const { everyMs, workflow, taskQueue } = schedule
  return { everyMs, workflow, taskQueue, timeoutMs: timeoutOf(schedule) }
}

function saidBy({ spec, action }: ScheduleDescription) {
  return {
    everyMs: spec.intervals?.[0]?.every,
    workflow: action.workflowType,
    taskQueue: action.taskQueue,
    timeoutMs: action.workflowExecutionTimeout,
  }
}
