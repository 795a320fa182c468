import assert from 'node:assert/strict'
import { test } from 'node:test'

import { IdleGarbageCollector, wholeCollection } from '../src/process/idle-garbage-collector.ts'

test('memory is returned once, five seconds after many requests', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] })
  let times = 0
  const giveBack = new IdleGarbageCollector(() => times++)
  const ask = (count: number) => Array.from({ length: count }, () => giveBack.requested())
  for (let round = 0; round < 5; round++) {
    ask(600)
    mock.timers.tick(5000)
    assert.equal(times, 0, 'not while requests arrive')
  }
  mock.timers.tick(5000)
  assert.equal(times, 1)
  mock.timers.tick(50_000)
  ask(100)
  mock.timers.tick(50_000)
  assert.equal(times, 1, 'a few requests are not worth it')
  ask(500)
  mock.timers.tick(15_000)
  assert.equal(times, 2)
})

test('unused memory is collected', () => {
  const collect = wholeCollection()
  let thing: object | undefined = { of: 'no use' }
  const held = new WeakRef(thing)
  thing = undefined
  return new Promise<void>((resolve) => {
    // A weak reference is kept alive until the end of the current tick.
    setImmediate(() => {
      collect()
      assert.equal(held.deref(), undefined)
      resolve()
    })
  })
})
