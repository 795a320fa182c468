import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'

import { Random } from '../../xml/test/arbitrary.ts'
import { Turns } from '../src/turns.ts'

test('work of one name is done one at a time, in the order it came', async () => {
  const turns = new Turns()
  const done: number[] = []
  let atWork = 0
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      turns.take('vm-1', async () => {
        assert.equal((atWork += 1), 1)
        for (let round = index % 5; round > 0; round -= 1) await soon()
        done.push(index)
        atWork -= 1
      }),
    ),
  )
  assert.deepEqual(done, [...Array(50).keys()])
})

test('work of other names does not wait', async () => {
  const turns = new Turns()
  const gate = Promise.withResolvers<void>()
  const slow = turns.take('slow', () => gate.promise)
  assert.equal(await turns.take('quick', async () => 'done'), 'done')
  gate.resolve()
  await slow
})

test('what fails tells only the one who asked, and the next goes on', async () => {
  const turns = new Turns()
  const failing = turns.take('vm-1', () => Promise.reject(new Error('no')))
  const next = turns.take('vm-1', async () => 'done')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'done')
})

test('several names at once are never taken in a circle', async () => {
  const turns = new Turns()
  const random = new Random(7)
  const names = ['a', 'b', 'c', 'd', 'e'] as const
  const held = new Set<string>()
  let done = 0
  const all = Array.from({ length: 2000 }, () => {
    const wanted = Array.from({ length: 1 + random.below(4) }, () => random.pick(names))
    const rounds = random.below(3)
    return turns.takeAll(wanted, async () => {
      const mine = new Set(wanted)
      for (const name of mine) assert(!held.has(name), `${name} is held twice`)
      for (const name of mine) held.add(name)
      for (let round = rounds; round > 0; round -= 1) await soon()
      for (const name of mine) held.delete(name)
      done += 1
    })
  })
  await Promise.all(all)
  assert.equal(done, 2000)
})

test('no name at all needs no turn', async () => {
  assert.equal(await new Turns().takeAll([], async () => 'done'), 'done')
})
