// Goal: with any process killed, every run ends, and each of its calls takes effect once. Method: storm.ts, small. After a failure:
// `SKERRY_SEED=N npm run test:runs` repeats the same kills, `npm run prove:workflow-runs` makes ten times as many.
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { runStorm } from './storm.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 7)
const runs = Number(process.env['SKERRY_RUNS'] ?? 20)
const kills = Number(process.env['SKERRY_KILLS'] ?? 6)

test(
  'every run ends and each effect happens once, with any process killed',
  { skip, timeout: 600_000 },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    t.diagnostic(JSON.stringify(await runStorm({ runs, kills, seed, patienceMs: 300_000 })))
  },
)
