import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  failedIn,
  hasBulkEnded,
  noOutcomes,
  withOutcome,
} from '../src/model/machine/bulk-outcomes.ts'

test('an action on several VMs has ended when each has its outcome', () => {
  const vms = ['a', 'b'].map((id) => ({ id, name: id.toUpperCase() }))
  const waiting = noOutcomes('start', vms)
  const one = withOutcome(withOutcome(waiting, 'a', { state: 'running' }), 'a', { state: 'done' })
  assert.deepEqual([hasBulkEnded(waiting), hasBulkEnded(one)], [false, false])
  const both = withOutcome(one, 'b', { state: 'failed', reason: 'no room' })
  assert.equal(hasBulkEnded(both), true)
  assert.deepEqual(failedIn(both), [{ id: 'b', name: 'B', state: 'failed', reason: 'no room' }])
  assert.equal(both.id, waiting.id, 'it is the same run')
})
