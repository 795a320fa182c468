// Goal: errors keep the message of the cloud. Method: responses of the cloud, and of others such as proxies.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { pathOf } from '../src/cloud.ts'
import { reviveFault } from '../src/index.ts'

const answer = (status: number, text: string, headers = {}) =>
  reviveFault({ status, headers, text })

test('an Error document becomes the original Fault', () => {
  const fault = answer(
    429,
    '<Error xmlns="urn:skerry:cloud:1.5" majorErrorCode="429" minorErrorCode="TOO_MANY" message="too many"/>',
    { 'retry-after': '7' },
  )
  assert.deepEqual([fault.kind, fault.message, fault.detail], ['too-many', 'too many', '7'])
  const other = answer(
    409,
    '<Error majorErrorCode="409" minorErrorCode="BUSY_ENTITY" message="x"/>',
  )
  assert.deepEqual([other.kind, other.message], ['conflict', 'x'])
})

test('a foreign document becomes a Fault by its status', () => {
  assert.equal(answer(404, '<html><body>nothing</body>').kind, 'not-found')
  assert.equal(answer(502, 'bad gateway').kind, 'unavailable')
  assert.equal(answer(500, '').kind, 'unavailable')
  assert.equal(answer(403, '{"error":"forbidden"}').kind, 'forbidden')
})

test('an href always leads to the API of the cloud, regardless of the host in the document', () => {
  assert.equal(pathOf('https://cloud.example:8443/api/vApp/vm-1?x=1'), '/api/vApp/vm-1?x=1')
  assert.equal(pathOf('/api/session'), '/api/session')
  for (const wrong of [
    'http://a/api/x',
    'file:///api/x',
    '/machine/v1/grants',
    '/api/../machine',
    '',
  ]) {
    assert.throws(() => pathOf(wrong), { kind: 'invalid' }, wrong)
  }
})
