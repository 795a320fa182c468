// The same vApp created 2 to 50 times in parallel with one key, at two cells, round after round.
// Usage: node tests/cloud/prove-creates.ts [--seed N] [--rounds 500]
// Prints one line of JSON; fails on a second vApp or task, a different response, or a wrong conflict.
import { parseArgs } from 'node:util'

import { startSmallCloud, untilOpen } from '../../apps/cloud/test/small-cloud.ts'
import { runRounds } from './parallel-creates.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '500' },
  },
})
const seed = Number(values.seed)

await using cloud = await startSmallCloud({ cells: 2, hosts: 2 })
await untilOpen(cloud.db, 2)
const began = performance.now()
const figures = await runRounds({
  cloud,
  seed,
  rounds: Number(values.rounds),
  say: (line) => console.error(line),
})
const seconds = Math.round((performance.now() - began) / 1000)
console.log(JSON.stringify({ proof: 'cloud-creates', seed, ...figures, seconds }))
