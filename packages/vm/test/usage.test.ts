// Goal: a caller can ask for any part of the last hour, and for nothing else.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { usageWindowOf } from '../src/usage.ts'

const wrong = (step: string, points: string): string => {
  const why = usageWindowOf(step, points)
  return typeof why === 'string' ? why : assert.fail(`${step} × ${points} is accepted`)
}

test('a window is a part of the last hour, or words say what it may be', () => {
  assert.deepEqual(usageWindowOf(), { step: 15, points: 240 })
  assert.deepEqual(usageWindowOf('60'), { step: 60, points: 60 })
  assert.deepEqual(usageWindowOf('15', '120'), { step: 15, points: 120 })
  for (const step of ['0', '-15', '16', '1e1', '', '3615', '15.0', ' 15']) {
    assert.match(wrong(step, '1'), /^step must be a multiple of 15 seconds/, step)
  }
  for (const points of ['0', '-1', '1.5', 'all', '', '99999']) {
    assert.match(wrong('15', points), /^points must be a whole number/, points)
  }
  assert.match(wrong('30', '121'), /at most 3600 seconds: .*kept for an hour$/)
})
