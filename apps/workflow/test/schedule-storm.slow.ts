// Goal: no due time of a schedule is missed or doubled while its backends are killed. Method: workflow-schedules.ts, small;
// `npm run prove:workflow-runs -- --parts schedules` runs for a minute. SKERRY_SEED sets the seed.
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { runScheduleStorm } from '../../../tests/faults/workflow-schedules.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 1)

test(
  'each due time of a schedule has exactly one run, with any process killed',
  { skip, timeout: 300_000 },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    const figures = await runScheduleStorm({ seconds: 20, kills: 3, seed, patienceMs: 120_000 })
    t.diagnostic(JSON.stringify(figures))
  },
)
