// The same id created 2 to 50 times concurrently, round after round.
// Usage: node tests/accept/prove-parallel-creates.ts [--seed N] [--rounds 200]
// Prints one line of JSON; fails on a second VM, a different response, or a wrong conflict.
import { parseArgs } from 'node:util'

import { runRounds } from './parallel-creates.ts'
import { startVmdPlace } from './vmd-place.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '200' },
  },
})
const seed = Number(values.seed)
const began = performance.now()

await using place = await startVmdPlace()
const figures = await runRounds({
  host: place.host,
  seed,
  rounds: Number(values.rounds),
  say: (line) => console.error(line),
})
const seconds = Math.round((performance.now() - began) / 1000)
console.log(JSON.stringify({ proof: 'parallel-creates', seed, ...figures, seconds }))
