import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault, faultKinds, httpStatus, retryableKinds } from '@skerry/fault'

test('every kind has a status, and only the retryable kinds suggest a retry', () => {
  for (const kind of faultKinds) assert.ok(httpStatus[kind] >= 400 && httpStatus[kind] < 600, kind)
  assert.deepEqual([...retryableKinds], ['unavailable', 'timed-out', 'too-many'])
})

test('the cause stays out of the message', () => {
  const fault = new Fault('unavailable', 'libvirt is away', {
    cause: new Error('/run/secret'),
    hint: 'try again',
  })
  assert.equal(fault.message, 'libvirt is away')
  assert.equal(fault.hint, 'try again')
  assert.ok(!JSON.stringify(fault).includes('secret'))
})
