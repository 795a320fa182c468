import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { faultAnswer } from '../src/local/send-fault.ts'

test('an error caused by a power state contains the state, in the words of this API', () => {
  const fault = new Fault('conflict', 'VM a is off', { hint: 'turn it on', state: 'off' })
  assert.deepEqual(faultAnswer(fault, 'r-1'), {
    status: 409,
    body: { code: 409, message: 'VM a is off', hint: 'turn it on', state: 'powered off' },
  })
})

test('an error with another cause contains no state', () => {
  const { body } = faultAnswer(new Fault('not-found', 'there is no VM a'), 'r-1')
  assert.deepEqual(body, { code: 404, message: 'there is no VM a' })
})

test('an internal error reveals only the id of the request', () => {
  const { status, body } = faultAnswer(new Error('/run/secret'), 'r-1')
  assert.equal(status, 500)
  assert.match(body.message, /^request r-1 failed/)
})
