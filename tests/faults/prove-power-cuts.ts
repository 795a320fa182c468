// Power cuts at random moments of a clone, a snapshot and a deletion, until ten of each came before the response.
// Usage: node tests/faults/prove-power-cuts.ts [--seed N] [--cuts 10]
// Prints one line of JSON; fails on anything that is neither complete nor gone.
import { parseArgs } from 'node:util'

import { seededRandom } from '../../tools/lab/src/system/seeded-random.ts'
import { CutHost, trials, type Trial } from './power-cut.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cuts: { type: 'string', default: '10' },
  },
})
const seed = Number(values.seed)
const cuts = Number(values.cuts)
/** The maximum number of cuts until one comes in time. */
const TRIES_MAX = 5
const began = performance.now()

const kinds: Readonly<Record<string, readonly [Trial, ...Trial[]]>> = {
  clone: [trials.cloneOfRunning, trials.cloneOfOff],
  snapshot: [
    trials.snapshotWithMemory,
    trials.snapshotOfRunning,
    trials.snapshotOfOff,
    trials.revert,
  ],
  deletion: [trials.deletion],
}

await using host = await CutHost.start()
const random = seededRandom(seed)
const interrupted: Record<string, number> = {}
let tries = 0
for (const [kind, choices] of Object.entries(kinds)) {
  // A cut that comes after the response proves little, so only earlier ones are counted.
  const before = host.interrupted
  for (let cut = 0; host.interrupted - before < cuts && cut < TRIES_MAX * cuts; cut++) {
    const trial = choices[cut % choices.length] ?? choices[0]
    await host.run(trial, random.between(0, trial.lastsMs))
    tries++
  }
  interrupted[kind] = host.interrupted - before
  console.error(`${kind}: ${interrupted[kind]} cuts before the answer, ${tries} cuts so far`)
  if (host.interrupted - before < cuts) throw new Error(`too few cuts hit a ${kind}`)
}
await host.assertGuestRemembers()
const seconds = Math.round((performance.now() - began) / 1000)
console.log(JSON.stringify({ proof: 'power-cuts', seed, cuts: tries, interrupted, seconds }))
