import assert from 'node:assert/strict'
import { test } from 'node:test'

import { Fault } from '@skerry/fault'

import { logLine } from '../src/process/log-line.ts'

const at = new Date(0)
const time = '1970-01-01T00:00:00.000Z'

test('an error of the caller is one short line, regardless of its content', () => {
  const fault = new Fault('not-found', 'there is no VM a\nb\r\u001b[2J', {
    cause: new Error('deep'),
  })
  assert.equal(
    logLine(at, 'GET /api/vms/:id', fault),
    `${time} GET /api/vms/:id: there is no VM a\\nb\\r\\u001b[2J\n`,
  )
})

test('an internal failure is logged with its stack and causes', () => {
  const why = new Error('no space left')
  for (const error of [
    new Fault('unavailable', 'not written', { cause: why }),
    new Error('x', { cause: why }),
  ]) {
    const line = logLine(at, 'journal', error)
    assert.match(line, /log-line\.test\.ts/)
    assert.match(line, /caused by Error: no space left\n/)
  }
})

test('a circular chain of causes ends', () => {
  const error = new Error('round')
  error.cause = error
  assert.equal(logLine(at, 'x', error).split('caused by').length, 5)
})

test('a message alone is one line', () => {
  assert.equal(logLine(at, 'vmd answers'), `${time} vmd answers\n`)
})
