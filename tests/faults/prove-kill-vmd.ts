// kill -9 of vmd, many times, during any operation of its clients over HTTP.
// Usage: node tests/faults/prove-kill-vmd.ts [--seed N] [--kills 50] [--errands 500] [--guests 4]
// Prints one line of JSON; fails on any violated invariant.
import { parseArgs } from 'node:util'

import { runKillVmd } from './kill-vmd.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '50' },
    errands: { type: 'string', default: '500' },
    guests: { type: 'string', default: '4' },
  },
})
const guests = Number(values.guests)

const figures = await runKillVmd({
  seed: Number(values.seed),
  kills: Number(values.kills),
  errands: Number(values.errands),
  guests,
  lanes: guests,
  say: (line) => console.error(line),
})
console.log(JSON.stringify({ proof: 'kill-vmd', ...figures }))
