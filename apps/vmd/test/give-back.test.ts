import assert from 'node:assert/strict'
import { test } from 'node:test'

import { GiveBack, wholeCollection } from '../src/give-back.ts'

test('memory is given back once, five seconds after many requests', ({ mock }) => {
  mock.timers.enable({ apis: ['setInterval'] })
  let times = 0
  const giveBack = new GiveBack(() => times++)
  const ask = (count: number) => Array.from({ length: count }, () => giveBack.asked())
  for (let round = 0; round < 5; round++) {
    ask(600)
    mock.timers.tick(5000)
    assert.equal(times, 0, 'not while it is asked')
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

test('what nobody needs is collected', () => {
  const collect = wholeCollection()
  let thing: object | undefined = { of: 'no use' }
  const held = new WeakRef(thing)
  thing = undefined
  return new Promise<void>((resolve) => {
    // A weak reference holds until the end of the turn in which it was made.
    setImmediate(() => {
      collect()
      assert.equal(held.deref(), undefined)
      resolve()
    })
  })
})
