import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'

import { Conditions, type Condition } from '@skerry/service'

const at = (second: number): Date => new Date(second * 1000)

test('a condition keeps the time of its last change, and each change is reported once', () => {
  const reported: Condition[] = []
  const conditions = new Conditions((condition) => reported.push(condition))
  conditions.set('clock', true, 'differs by 1 s', at(1))
  conditions.set('clock', true, 'differs by 2 s', at(2))
  deepEqual(conditions.list(), [
    { name: 'clock', ok: true, since: at(1), message: 'differs by 2 s' },
  ])
  equal(reported.length, 0, 'a first value that is ok is no change')

  conditions.set('clock', false, 'differs by 400 s', at(3))
  conditions.set('clock', false, 'differs by 401 s', at(4))
  conditions.set('certificate', false, 'expired', at(4))
  deepEqual(conditions.failing(), [
    { name: 'clock', ok: false, since: at(3), message: 'differs by 401 s' },
    { name: 'certificate', ok: false, since: at(4), message: 'expired' },
  ])
  conditions.set('clock', true, 'differs by 0 s', at(5))
  deepEqual(
    reported.map(({ name, ok, since }) => [name, ok, since]),
    [
      ['clock', false, at(3)],
      ['certificate', false, at(4)],
      ['clock', true, at(5)],
    ],
  )
  deepEqual(
    conditions.list().map(({ name }) => name),
    ['clock', 'certificate'],
  )
})
