// The way from requests to runs: everything that a route asks of Temporal. Each is a Fault `unavailable` while it is away, and each may
// be asked again.
import { Fault } from '@skerry/fault'
import type { TemporalClient } from '@skerry/temporal'

import type { RunInput } from '../durable/states.ts'
import type { Json, RunEvent } from '../durable/verbs.ts'
import { createSchedule, deleteSchedule, type Overlap, pauseSchedule } from './schedules.ts'
import { answerInteraction, cancelRun, isKnown, signalEvent, startRun } from './start.ts'

/** A schedule as its row has it. */
export interface ScheduleToKeep {
  readonly id: string
  readonly cron: string | null
  readonly every_seconds: number | null
  readonly time_zone: string
  readonly overlap: Overlap
  readonly paused: boolean
}

const over = () =>
  new Fault('gone', 'this run has ended, or never began', { hint: 'its state says how it ended' })

export const runsOver = (temporal: TemporalClient, taskQueue: string) => ({
  start: async (run: RunInput) => startRun(temporal, run, taskQueue),
  cancel: async (execution: string) => cancelRun(temporal, execution),
  async answer(execution: string, interaction: string, by: string, answer: Json) {
    const heard = await answerInteraction(temporal, execution, { interaction, by, answer })
    if (!heard) throw over()
  },
  async send(execution: string, event: RunEvent) {
    if (!(await signalEvent(temporal, execution, event))) throw over()
  },
  /** Whether Temporal knows it, ended or not. */
  isKnown: async (execution: string) => isKnown(temporal, execution),
  schedules: {
    async create({ id, cron, every_seconds, time_zone, overlap, paused }: ScheduleToKeep) {
      const times = {
        ...(cron !== null && { cron }),
        ...(every_seconds !== null && { everySeconds: every_seconds }),
      }
      const schedule = { id, ...times, timeZone: time_zone, overlap, paused }
      await createSchedule(temporal, schedule, taskQueue)
    },
    pause: async (schedule: string, paused: boolean) => pauseSchedule(temporal, schedule, paused),
    delete: async (schedule: string) => deleteSchedule(temporal, schedule),
  },
})
