import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as soon } from 'node:timers/promises'

import { seededRandom } from '../../../tools/lab/src/system/seeded-random.ts'
import { KeyedLock } from '../src/host/keyed-lock.ts'

test('work with one name runs one at a time, in order of arrival', async () => {
  const turns = new KeyedLock()
  const done: number[] = []
  let atWork = 0
  await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      turns.run('vm-1', async () => {
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
  const turns = new KeyedLock()
  const gate = Promise.withResolvers<void>()
  const slow = turns.run('slow', () => gate.promise)
  assert.equal(await turns.run('quick', async () => 'done'), 'done')
  gate.resolve()
  await slow
})

test('a failure reaches only its caller, and the next work runs', async () => {
  const turns = new KeyedLock()
  const failing = turns.run('vm-1', () => Promise.reject(new Error('no')))
  const next = turns.run('vm-1', async () => 'done')
  await assert.rejects(failing, /no/)
  assert.equal(await next, 'done')
})

test('several names at once never deadlock', async () => {
  const turns = new KeyedLock()
  const random = seededRandom(7)
  const names = ['a', 'b', 'c', 'd', 'e'] as const
  const held = new Set<string>()
  let done = 0
  const all = Array.from({ length: 2000 }, () => {
    const wanted = Array.from({ length: 1 + random.below(4) }, () => random.pick(names))
    const rounds = random.below(3)
    return turns.runAll(wanted, async () => {
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

test('no name needs no lock', async () => {
  assert.equal(await new KeyedLock().runAll([], async () => 'done'), 'done')
})
