// Goal: whoever is killed, every run ends, and each of its calls has taken effect once. Method: storm.ts, small. If you are here because
// this failed: `SKERRY_SEED=N npm run test:runs` draws the same kills again, `npm run prove:workflow-runs` ten times as many.
import { test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { runStorm } from './storm.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
const seed = Number(process.env['SKERRY_SEED'] ?? 7)
const runs = Number(process.env['SKERRY_RUNS'] ?? 20)
const kills = Number(process.env['SKERRY_KILLS'] ?? 6)

test(
  'every run ends and each effect is there once, whoever is killed',
  { skip, timeout: 600_000 },
  async (t) => {
    t.diagnostic(`seed ${seed}`)
    t.diagnostic(JSON.stringify(await runStorm({ runs, kills, seed, patienceMs: 300_000 })))
  },
)
