import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ApiError } from '../src/api/client.ts'
import { againIfOld, failureOf } from '../src/data/use-read.ts'

const answer = (status: number) => new ApiError(status, '', 'it failed')
const isReadAgain = (data: unknown, error: Error | null): boolean =>
  againIfOld({ state: { data, error } }) !== false

test('an error takes the place of data only if the data is gone or no longer allowed', () => {
  for (const status of [403, 404]) {
    assert.equal(failureOf('shown', answer(status))?.message, 'it failed')
    assert.equal(isReadAgain('shown', answer(status)), false)
  }
  for (const error of [answer(0), answer(429), answer(503), new Error('not JSON')]) {
    assert.equal(failureOf('shown', error), null)
    assert.ok(isReadAgain('shown', error))
  }
})

test('without data every error is shown', () => {
  for (const status of [0, 401, 403, 404, 503]) {
    assert.equal(failureOf(undefined, answer(status))?.message, 'it failed')
    assert.equal(isReadAgain(undefined, answer(status)), false)
  }
})

test('data stays without a session, and is not read again before there is one', () => {
  assert.equal(failureOf('shown', answer(401)), null)
  assert.equal(isReadAgain('shown', answer(401)), false)
})

test('data that was read is not read again', () => {
  assert.equal(failureOf('shown', null), null)
  assert.equal(isReadAgain('shown', null), false)
})
