// Power cuts at random moments of a clone, a snapshot and a deletion, ten of each.
// Usage: node tests/faults/prove-power-cuts.ts [--seed N] [--cuts 10]
// Prints one line of JSON; ends with an error on anything that is neither whole nor gone.
import { parseArgs } from 'node:util'

import { chance } from './chance.ts'
import { CutHost, trials, type Trial } from './power-cut.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    cuts: { type: 'string', default: '10' },
  },
})
const seed = Number(values.seed)
const cuts = Number(values.cuts)
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
const random = chance(seed)
for (const [kind, choices] of Object.entries(kinds)) {
  for (let cut = 0; cut < cuts; cut++) {
    const trial = choices[cut % choices.length] ?? choices[0]
    await host.run(trial, random.between(0, trial.lastsMs))
    console.error(`${kind}: cut ${cut + 1} of ${cuts}`)
  }
}
await host.assertGuestRemembers()
console.log(
  JSON.stringify({
    proof: 'power-cuts',
    seed,
    cuts: cuts * Object.keys(kinds).length,
    interrupted: host.interrupted,
    seconds: Math.round((performance.now() - began) / 1000),
  }),
)
