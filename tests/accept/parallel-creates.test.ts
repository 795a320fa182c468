// Goal: concurrent requests for the same VM all return the same VM; a request for a different one is a conflict. Method: 20
// rounds of 2 to 50 requests on separate connections; `npm run prove:parallel-creates` runs 200.
import { test } from 'node:test'

import { reasonToSkip } from '@skerry/lab'

import { runRounds } from './parallel-creates.ts'
import { startVmdPlace } from './vmd-place.ts'

test('many concurrent creates of one id are one VM, and another body is a conflict', async (t) => {
  const reason = reasonToSkip('host', 'small')
  if (reason !== undefined) return t.skip(reason)
  await using place = await startVmdPlace()
  const figures = await runRounds({ host: place.host, seed: 7, rounds: 20 })
  t.diagnostic(JSON.stringify(figures))
})
