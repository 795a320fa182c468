// Goal: what is asked of a cloud many times at once, at two cells, happens once and in one order.
// Method: two real cells, Postgres and Temporal; the hosts are simulated. `npm run prove:cloud-creates` runs 500 rounds.
import { after, before, test } from 'node:test'

import { reasonWithoutRoot, reasonWithoutTemporal } from '@skerry/lab'

import { startSmallCloud, untilOpen, type SmallCloud } from '../../apps/cloud/test/small-cloud.ts'
import { runRounds } from './parallel-creates.ts'
import { runStartStop } from './start-stop.ts'

const skip = reasonWithoutRoot('cloud') ?? (await reasonWithoutTemporal()) ?? false
let cloud: SmallCloud
before(async () => {
  if (skip !== false) return
  cloud = await startSmallCloud({ cells: 2, hosts: 2 })
  await untilOpen(cloud.db, 2)
})
after(() => cloud?.[Symbol.asyncDispose]())

test(
  'one key sent 2 to 50 times at once is one vApp and one task, another body a conflict',
  { skip },
  async (t) => {
    const began = performance.now()
    const figures = await runRounds({ cloud, seed: 5, rounds: 25 })
    t.diagnostic(`${JSON.stringify(figures)} in ${Math.round(performance.now() - began)} ms`)
  },
)

test(
  'start and stop of one vApp at once both end, and after the later one no half is on',
  { skip },
  async (t) => {
    const began = performance.now()
    const figures = await runStartStop(cloud, 20)
    t.diagnostic(`${JSON.stringify(figures)} in ${Math.round(performance.now() - began)} ms`)
  },
)
