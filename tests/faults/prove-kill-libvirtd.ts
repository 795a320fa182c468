// kill -9 of libvirtd, many times over many guests, during any operation of clients.
// Usage: node tests/faults/prove-kill-libvirtd.ts [--seed N] [--kills 50] [--guests 10]
// Prints one line of JSON; fails on any violated invariant.
import { parseArgs } from 'node:util'

import { startEngine } from '../guest/engine.ts'
import { killLibvirtd } from './kill-libvirtd.ts'
import { runStorm } from './storm.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    kills: { type: 'string', default: '50' },
    guests: { type: 'string', default: '10' },
  },
})

const figures = await runStorm({
  seed: Number(values.seed),
  kills: Number(values.kills),
  guests: Number(values.guests),
  kill: killLibvirtd,
  start: startEngine,
  say: (line) => console.error(line),
})
console.log(JSON.stringify({ proof: 'kill-libvirtd', ...figures }))
