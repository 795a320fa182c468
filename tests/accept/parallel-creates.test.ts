// Goal: whoever asks for the same VM, however many at once, has the same VM; whoever asks for another is told so.
// Method: 20 rounds of 2 to 50 requests on connections of their own; `npm run prove:parallel-creates` runs 200.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { runRounds } from './parallel-creates.ts'
import { startVmdPlace } from './vmd-place.ts'

test('the same id asked for many times at once is one VM, and another body a conflict', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using place = await startVmdPlace()
  const figures = await runRounds({ host: place.host, seed: 7, rounds: 20 })
  t.diagnostic(JSON.stringify(figures))
})
