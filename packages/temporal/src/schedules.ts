// Work that comes round again and again, under Temporal's Schedules.
import { isDeepStrictEqual } from 'node:util'

import {
  type ScheduleDescription,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client'

import type { TemporalClient } from './connect.ts'

export interface Schedule {
  readonly id: string
  /** How long from one start to the next. */
  readonly everyMs: number
  /** The workflow's type. It gets no input: it reads the world again each time. */
  readonly workflow: string
  readonly taskQueue: string
  /** After so long a run is ended, so that one which hangs does not hold up all that follow; ten times `everyMs` unless told. */
  readonly timeoutMs?: number
}

/**
 * Makes sure that a schedule is there and says this. A start is left out while the last one still runs, and those that were
 * missed are not made up for. Any number of cells may do it at once.
 */
export async function ensureSchedule(temporal: TemporalClient, schedule: Schedule): Promise<void> {
  const wanted = optionsOf(schedule)
  await temporal.within(async (client) => {
    try {
      await client.schedule.create({ ...wanted, scheduleId: schedule.id })
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      const handle = client.schedule.getHandle(schedule.id)
      // An update is a write and makes the schedule begin anew, so only where it says something else.
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
