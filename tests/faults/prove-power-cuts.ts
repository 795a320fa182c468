// npm run prove:power-cuts [-- --seed N]: ten power cuts each, at random points, in clone, snapshot and delete.
import { parseArgs } from 'node:util'

import { runCuts, scenes } from './power-cuts.ts'

const { values } = parseArgs({ options: { seed: { type: 'string', default: '11' } } })
const CUTS = 10

for (const [kind, each] of Object.entries(scenes)) {
  const cuts = Math.ceil(CUTS / each.length)
  const options = { seed: Number(values.seed), scenes: each, cuts, say: console.error }
  console.log(JSON.stringify({ kind, ...(await runCuts(options)) }))
}
