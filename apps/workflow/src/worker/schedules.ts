// Schedules of workflows, kept by Temporal: it starts `runScheduled` at their times, whichever server is up.
import type { TemporalClient } from '@skerry/temporal'
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client'

import { limits } from '../durable/scope.ts'

/** When the last run is still going on at the next one's time. */
export const overlaps = {
  skip: ScheduleOverlapPolicy.SKIP,
  queue: ScheduleOverlapPolicy.BUFFER_ONE,
  'queue-all': ScheduleOverlapPolicy.BUFFER_ALL,
  'cancel-other': ScheduleOverlapPolicy.CANCEL_OTHER,
  allow: ScheduleOverlapPolicy.ALLOW_ALL,
} as const
export type Overlap = keyof typeof overlaps

export interface WorkflowSchedule {
  readonly id: string
  /** One of both: five fields, or so many seconds from one start to the next. */
  readonly cron?: string
  readonly everySeconds?: number
  /** As IANA names it; UTC unless told. */
  readonly timeZone?: string
  /** `skip` unless told. */
  readonly overlap?: Overlap
  readonly paused?: boolean
}

/** Starts that were missed while Temporal was away are made up for if they are not older than this. */
const CATCH_UP = '1h'
const idOf = (schedule: string): string => `schedule/${schedule}`

/** Asked twice it is one; with other times, it has those. */
export async function createSchedule(
  temporal: TemporalClient,
  schedule: WorkflowSchedule,
  taskQueue: string,
): Promise<void> {
  const options = optionsOf(schedule, taskQueue)
  await temporal.within(async ({ schedule: schedules }) => {
    try {
      await schedules.create({ ...options, scheduleId: idOf(schedule.id) })
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error
      const handle = schedules.getHandle(idOf(schedule.id))
      await handle.update(() => ({ ...options, state: { paused: schedule.paused ?? false } }))
    }
  })
}

export async function pauseSchedule(
  temporal: TemporalClient,
  schedule: string,
  paused: boolean,
): Promise<void> {
  await temporal.within(async (client) => {
    const handle = client.schedule.getHandle(idOf(schedule))
    await (paused ? handle.pause() : handle.unpause())
  })
}

/** One that is not there any more is deleted. */
export async function deleteSchedule(temporal: TemporalClient, schedule: string): Promise<void> {
  try {
    await temporal.within((client) => client.schedule.getHandle(idOf(schedule)).delete())
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error
  }
}

export interface SeenSchedule {
  readonly paused: boolean
  /** The next starts, ISO. */
  readonly next: readonly string[]
}

/** Undefined: Temporal does not know it. */
export async function readSchedule(
  temporal: TemporalClient,
  schedule: string,
): Promise<SeenSchedule | undefined> {
  try {
    const { state, info } = await temporal.within((client) =>
      client.schedule.getHandle(idOf(schedule)).describe(),
    )
    return {
      paused: state.paused,
      next: info.nextActionTimes.map((each) => each.toISOString()),
    }
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error
    return undefined
  }
}

function optionsOf(schedule: WorkflowSchedule, taskQueue: string) {
  const { id, cron, everySeconds, timeZone = 'UTC', overlap = 'skip', paused = false } = schedule
  return {
    spec: {
      timezone: timeZone,
      ...(cron !== undefined && { cronExpressions: [cron] }),
      ...(everySeconds !== undefined && { intervals: [{ every: everySeconds * 1_000 }] }),
    },
    action: {
      type: 'startWorkflow' as const,
      workflowType: 'runScheduled',
      // Temporal puts the time behind it, so that each start has its own.
      workflowId: idOf(id),
      ...{ taskQueue, args: [id] },
      workflowTaskTimeout: '5s' as const,
      workflowExecutionTimeout: limits.runMs,
    },
    policies: { overlap: overlaps[overlap], catchupWindow: CATCH_UP as typeof CATCH_UP },
    state: { paused },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>
}
