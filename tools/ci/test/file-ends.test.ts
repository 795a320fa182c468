// Goal: only a file whose tests have all ended is reported as overdue. Method: a clock that the test moves.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { followFiles } from '../file-ends.ts'

function start() {
  let now = 0
  const ends = followFiles(['a.test.ts', 'b.test.ts'], () => now)
  return { ends, wait: (ms: number) => (now += ms) }
}

test('a file is overdue once, after its last test', () => {
  const { ends, wait } = start()
  ends.queued('a.test.ts')
  ends.queued('a.test.ts')
  ends.completed('a.test.ts')
  wait(200)
  assert.deepEqual(ends.overdue(100), [], 'a test runs')
  ends.completed('a.test.ts')
  wait(50)
  assert.deepEqual(ends.overdue(100), [], 'it may still end')
  wait(100)
  assert.deepEqual(ends.overdue(100), ['a.test.ts'])
  assert.deepEqual(ends.overdue(100), [])
})

test('a file whose process ended is not overdue', () => {
  const { ends, wait } = start()
  ends.queued('a.test.ts')
  ends.completed('a.test.ts')
  ends.exited('a.test.ts')
  wait(200)
  assert.deepEqual(ends.overdue(100), [])
})

test('tests of an imported module keep the files alive, and the module itself is never overdue', () => {
  const { ends, wait } = start()
  ends.queued('a.test.ts')
  ends.queued('module.ts')
  ends.completed('a.test.ts')
  wait(200)
  assert.deepEqual(ends.overdue(100), [], 'the test of the module may run in this file')
  ends.completed('module.ts')
  wait(50)
  assert.deepEqual(ends.overdue(100), [])
  wait(100)
  assert.deepEqual(ends.overdue(100), ['a.test.ts'])
})
