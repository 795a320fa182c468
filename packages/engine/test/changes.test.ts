import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'

import { Changes } from '../src/host/changes.ts'

/** A query that returns a value from its n-th call on, and counts its calls. */
function answering(from: number) {
  const ask = async () => ((ask.times += 1) >= from ? 'yes' : undefined)
  ask.times = 0
  return ask
}

test('an immediate answer needs no change', async () => {
  const ask = answering(1)
  assert.equal(await new Changes().until('a', 1000, ask), 'yes')
  assert.equal(ask.times, 1)
})

/** Timers that run on demand, so that the test does not depend on the speed of the machine. */
const stopTimers = (t: TestContext) => t.mock.timers.enable({ apis: ['setTimeout'] })
const turn = () => new Promise(setImmediate)

test('a change of the domain, or of any domain, triggers another query', async (t) => {
  stopTimers(t)
  const changes = new Changes()
  const ask = answering(4)
  const requested = changes.until('a', 10_000, async () => {
    const answer = await ask()
    // Emitted during the query, and during the wait: neither is lost.
    if (ask.times === 1) changes.emit({ kind: 'lifecycle', domain: 'a' })
    if (ask.times === 2) changes.emit({ kind: 'resync' })
    if (ask.times === 3) setImmediate(() => changes.emit({ kind: 'agent', domain: 'a' }))
    return answer
  })
  assert.equal(await requested, 'yes')
})

test('a change of another domain does not', async (t) => {
  stopTimers(t)
  const changes = new Changes()
  const ask = answering(2)
  const requested = changes.until('a', 150, ask)
  changes.emit({ kind: 'lifecycle', domain: 'b' })
  await turn()
  assert.equal(ask.times, 1)
  t.mock.timers.tick(150)
  assert.equal(await requested, 'yes', 'it queries once more at the timeout')
})

test('after the timeout it gives up and stops listening', async () => {
  const changes = new Changes()
  const ask = answering(Infinity)
  assert.equal(await changes.until('a', 30, ask), undefined)
  const { times } = ask
  changes.emit({ kind: 'resync' })
  await turn()
  assert.equal(ask.times, times)
})

test('it polls once a second without events', async (t) => {
  stopTimers(t)
  const ask = answering(3)
  const requested = new Changes().until('a', 60_000, ask)
  for (const times of [1, 2]) {
    await turn()
    t.mock.timers.tick(999)
    await turn()
    assert.equal(ask.times, times)
    t.mock.timers.tick(1)
  }
  assert.equal(await requested, 'yes')
})

test('an error of the query is thrown to the caller', async () => {
  await assert.rejects(
    new Changes().until('a', 1000, () => Promise.reject(new Error('no'))),
    /no/,
  )
})

test('a listener may remove itself while it is called', () => {
  const changes = new Changes()
  let heard = 0
  const first = changes.listen(() => {
    heard += 1
    first[Symbol.dispose]()
  })
  using _ = changes.listen(() => (heard += 10))
  changes.emit({ kind: 'resync' })
  changes.emit({ kind: 'resync' })
  assert.equal(heard, 21)
})
