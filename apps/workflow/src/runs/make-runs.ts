import { Fault } from '@skerry/fault'
import type { TemporalClient } from '@skerry/temporal'

import type { Runs } from '../context.ts'
import { createSchedule, deleteSchedule, pauseSchedule } from './schedules.ts'
import { RUN_QUEUE } from './start-worker.ts'
import { answerInteraction, cancelRun, goesOn, startRun } from './start.ts'

/** The Temporal operations for requests. */
export const makeRuns = (temporal: TemporalClient): Runs => ({
  start: (run) => startRun(temporal, run, RUN_QUEUE),
  cancel: (execution) => cancelRun(temporal, execution),
  async answer(execution, interaction, by, answer) {
    const heard = await answerInteraction(temporal, execution, { interaction, by, answer })
    if (!heard) throw new Fault('conflict', 'the run has already ended')
  },
  goesOn: (execution) => goesOn(temporal, execution),
  schedules: {
    create: ({ id, cron, every_seconds: everySeconds, time_zone: timeZone, overlap, paused }) =>
      createSchedule(
        temporal,
        {
          id,
          timeZone,
          overlap,
          paused,
          ...(cron !== null && { cron }),
          ...(everySeconds !== null && { everySeconds }),
        },
        RUN_QUEUE,
      ),
    pause: (schedule, paused) => pauseSchedule(temporal, schedule, paused),
    delete: (schedule) => deleteSchedule(temporal, schedule),
  },
})
