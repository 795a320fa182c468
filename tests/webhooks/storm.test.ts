// Goal: no event is lost or out of order, whatever dies. Method: senders in processes of their own that are killed, the egress as a
// program, and a receiver that fails; npm run prove:webhooks is the same with 20,000 events and 30 kills.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { storm } from './storm.ts'

test('no event of a webhook is lost or out of order while senders are killed and the receiver fails', async (t) => {
  const size = { events: 1000, kills: 3, failing: 0.2, everyMs: 700 }
  const { seconds, ...found } = await storm(size)
  t.diagnostic(JSON.stringify({ ...found, seconds }))
  const { events, kills, lost, outOfOrder, forged } = found
  assert.deepEqual(
    { events, kills, lost, outOfOrder, forged },
    { events: 1000, kills: 3, lost: 0, outOfOrder: 0, forged: 0 },
  )
})
