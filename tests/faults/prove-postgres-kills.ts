// kill -9 of all of Postgres every 5 to 10 s for 10 minutes, while tenants create, power and delete VMs on two real hosts.
// Usage: node tests/faults/prove-postgres-kills.ts [--seed N] [--seconds 600] [--keep DIRECTORY]
// Prints one line of JSON; fails on any violated invariant.
import { parseArgs } from 'node:util'

import { runCloudStorm } from './cloud-storm.ts'
import { steady } from './cloud/weather.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    seconds: { type: 'string', default: '600' },
    keep: { type: 'string' },
  },
})

const rhythm = { forMs: Number(values.seconds) * 1000, everyMs: [5_000, 10_000] } as const
const figures = await runCloudStorm({
  seed: Number(values.seed),
  lanes: 8,
  weather: (draw, sky) => steady('postgres', rhythm, draw, sky),
  ...(values.keep !== undefined && { keep: values.keep }),
  say: (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`),
})
console.log(JSON.stringify({ proof: 'postgres-kills', ...figures }))
