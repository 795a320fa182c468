import { RUN_LIMITS } from '@skerry/serverless-workflow'
// Schedules in Temporal: it starts `runScheduled` at the due times on any available server.
import type { TemporalClient } from '@skerry/temporal'
import {
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
  type ScheduleOptions,
} from '@temporalio/client'

/** What happens at a due time while the previous run is still active. */
export const overlaps = {
  skip: ScheduleOverlapPolicy.SKIP,
  queue: ScheduleOverlapPolicy.BUFFER_ONE,
  'queue-all': ScheduleOverlapPolicy.BUFFER_ALL,
  'cancel-other': ScheduleOverlapPolicy.CANCEL_OTHER,
  allow: ScheduleOverlapPolicy.ALLOW_ALL,
} as const
export type ScheduleOverlap = keyof typeof overlaps

export interface WorkflowSchedule {
  readonly id: string
  /** One of both: five cron fields, or the seconds between two starts. */
  readonly cron?: string
  readonly everySeconds?: number
  /** An IANA name. Default: UTC. */
  readonly timeZone?: string
  /** Default: `skip`. */
  readonly overlap?: ScheduleOverlap
  readonly paused?: boolean
}

/** Starts that were missed while Temporal was unavailable are caught up if they are not older than this. */
const CATCH_UP = '1h'
const idOf = (schedule: string): string => `schedule/${schedule}`

/** Idempotent; a repeated call with other times updates them. */
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

/** A missing schedule counts as deleted. */
export async function deleteSchedule(temporal: TemporalClient, schedule: string): Promise<void> {
  try {
    await temporal.within((client) => client.schedule.getHandle(idOf(schedule)).delete())
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error
  }
}

export interface SeenSchedule {
  readonly paused: boolean
  /** The next starts, as ISO 8601. */
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
      // Temporal appends the time, so that each start has its own id.
      workflowId: idOf(id),
      taskQueue,
      args: [id],
      workflowTaskTimeout: '5s' as const,
      workflowExecutionTimeout: RUN_LIMITS.runMs,
    },
    policies: { overlap: overlaps[overlap], catchupWindow: CATCH_UP as typeof CATCH_UP },
    state: { paused },
  } satisfies Omit<ScheduleOptions, 'scheduleId'>
}
