// kill -9 of all parts of a cloud, many times, while tenants create, power and delete VMs with real guests, and networks.
// Usage: node tests/faults/prove-cloud-storm.ts [--seed N] [--operations 300] [--kills 110] [--keep DIRECTORY]
// Prints one line of JSON; fails on any violated invariant.
import { parseArgs } from 'node:util'

import { runCloudStorm } from './cloud-storm.ts'
import { spread } from './cloud/weather.ts'

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    operations: { type: 'string', default: '300' },
    kills: { type: 'string', default: '110' },
    keep: { type: 'string' },
  },
})

const storm = { operations: Number(values.operations), kills: Number(values.kills) }
const figures = await runCloudStorm({
  seed: Number(values.seed),
  network: true,
  weather: (draw, sky) => spread(storm, draw, sky),
  ...(values.keep !== undefined && { keep: values.keep }),
  say: (line) => console.error(`${new Date().toISOString().slice(11, 19)} ${line}`),
})
console.log(JSON.stringify({ proof: 'cloud-storm', ...figures }))
