// Goal: vmd may die at any moment. Method: kill -9 it during any operation of its clients over HTTP; the next one must have the
// same state, repair the host, and deliver every event once; repeated requests must succeed. If you are here because this failed:
// the message has the seed and vmd's log; `npm run prove:kill-vmd -- --seed N --kills 6 --errands 60 --guests 2` runs the same
// again.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { runKillVmd } from './kill-vmd.ts'

test('vmd is killed six times: guests continue, its state is kept, no event is missed, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runKillVmd({
    seed: 7,
    kills: 6,
    errands: 60,
    guests: 2,
    lanes: 2,
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
