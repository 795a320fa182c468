// Goal: no time of a schedule is missed or doubled while what it stands on is killed. Method: workflow-schedules.ts, small;
// `npm run prove:workflow-runs -- --parts schedules` goes on for a minute. The seed is set by SKERRY_SEED.
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { runScheduleStorm } from '../../../tests/faults/workflow-schedules.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 1)

test(
  'each time of a schedule has its run, once, whoever is killed',
  { skip, timeout: 300_000 },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    const figures = await runScheduleStorm({ seconds: 20, kills: 3, seed, patienceMs: 120_000 })
    t.diagnostic(JSON.stringify(figures))
  },
)
