// Goal: vmd may die at any moment. Method: kill -9 it during whatever its clients happen to do over HTTP; the next one must
// know what it knew, put the host in order, and tell every event once; what is asked again must come about.
// If you are here because this failed: the message has the seed and vmd's log; `npm run prove:kill-vmd -- --seed N --kills 6
// --errands 60 --guests 2` runs the same again.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { runKillVmd } from './kill-vmd.ts'

test('vmd is killed six times: guests go on, it knows what it knew, no event is missed, nothing is left over', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  const figures = await runKillVmd({
    ...{ seed: 7, kills: 6, errands: 60, guests: 2, lanes: 2 },
    say: (line) => t.diagnostic(line),
  })
  t.diagnostic(JSON.stringify(figures))
})
