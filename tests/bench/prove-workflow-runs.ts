// npm run prove:workflow-runs [-- --parts storm,waiting,schedules] [--seed N] [--runs N] [--kills N] [--waiting N] [--seconds N]
// Goals: 200 runs end through 100 kills of worker, Temporal and Postgres, each call with one effect; 1,000 runs wait at once,
// their memory is reported, and all end when they receive their event; no due time of a schedule is missed or doubled through
// kills. Prints a line of JSON for each part; fails if a goal is missed.
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'

import { runStorm } from '../../apps/workflow/test/storm.ts'
import { runScheduleStorm } from '../faults/workflow-schedules.ts'
import { holdWaiting } from './waiting-runs.ts'

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'storm,waiting,schedules' },
    seed: { type: 'string', default: process.env['SKERRY_SEED'] ?? '1' },
    runs: { type: 'string', default: '200' },
    kills: { type: 'string', default: '100' },
    waiting: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '60' },
  },
})
const number = (name: Exclude<keyof typeof values, 'parts'>): number => Number(values[name])
const seed = number('seed')
const patienceMs = 600_000
/** So that there are several in any minute. */
const SECONDS_PER_KILL = 7

const parts: Readonly<Record<string, () => Promise<object>>> = {
  storm: () => runStorm({ runs: number('runs'), kills: number('kills'), seed, patienceMs }),
  waiting: () => holdWaiting(number('waiting'), patienceMs),
  schedules: async () => {
    const seconds = number('seconds')
    const kills = Math.max(1, Math.floor(seconds / SECONDS_PER_KILL))
    return runScheduleStorm({ seconds, kills, seed, patienceMs })
  },
}

console.error(`seed ${seed}`)
for (const name of values.parts.split(',')) {
  const prove = parts[name]
  if (!prove) throw new Error(`there is no part "${name}", only: ${Object.keys(parts).join(', ')}`)
  try {
    const figures = await prove()
    console.log(JSON.stringify({ proof: `workflow-${name}`, ...figures, load: loadavg()[0] }))
  } catch (error) {
    console.error(`${name}: NOT met:`, error)
    process.exitCode = 1
  }
}
