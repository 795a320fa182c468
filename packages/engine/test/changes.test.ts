import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'

import { Changes } from '../src/changes.ts'

/** An ask that answers from its n-th time on, and counts. */
function answering(from: number) {
  const ask = async () => ((ask.times += 1) >= from ? 'yes' : undefined)
  ask.times = 0
  return ask
}

test('an answer that is there needs no change', async () => {
  const ask = answering(1)
  assert.equal(await new Changes().until('a', 1000, ask), 'yes')
  assert.equal(ask.times, 1)
})

/** Timers that run when they are told to: what waits for one waits for ever, on a machine however slow. */
const stopTimers = (t: TestContext) => t.mock.timers.enable({ apis: ['setTimeout'] })
const turn = () => new Promise(setImmediate)

test('a change of the domain, or of anything, makes it ask again', async (t) => {
  stopTimers(t)
  const changes = new Changes()
  const ask = answering(4)
  const asked = changes.until('a', 10_000, async () => {
    const answer = await ask()
    // Told while it is asked, and when it waits: neither is lost.
    if (ask.times === 1) changes.tell({ kind: 'lifecycle', domain: 'a' })
    if (ask.times === 2) changes.tell({ kind: 'resync' })
    if (ask.times === 3) setImmediate(() => changes.tell({ kind: 'agent', domain: 'a' }))
    return answer
  })
  assert.equal(await asked, 'yes')
})

test('a change of another domain does not', async (t) => {
  stopTimers(t)
  const changes = new Changes()
  const ask = answering(2)
  const asked = changes.until('a', 150, ask)
  changes.tell({ kind: 'lifecycle', domain: 'b' })
  await turn()
  assert.equal(ask.times, 1)
  t.mock.timers.tick(150)
  assert.equal(await asked, 'yes', 'it asks a last time when its time is over')
})

test('when the time is over it gives up, and listens no more', async () => {
  const changes = new Changes()
  const ask = answering(Infinity)
  assert.equal(await changes.until('a', 30, ask), undefined)
  const { times } = ask
  changes.tell({ kind: 'resync' })
  await turn()
  assert.equal(ask.times, times)
})

test('it asks once a second when nothing is told', async (t) => {
  stopTimers(t)
  const ask = answering(3)
  const asked = new Changes().until('a', 60_000, ask)
  for (const times of [1, 2]) {
    await turn()
    t.mock.timers.tick(999)
    await turn()
    assert.equal(ask.times, times)
    t.mock.timers.tick(1)
  }
  assert.equal(await asked, 'yes')
})

test('what goes wrong while asking is told to whoever waits', async () => {
  await assert.rejects(
    new Changes().until('a', 1000, () => Promise.reject(new Error('no'))),
    /no/,
  )
})

test('a listener may leave while it is told', () => {
  const changes = new Changes()
  let heard = 0
  const first = changes.listen(() => {
    heard += 1
    first[Symbol.dispose]()
  })
  using _ = changes.listen(() => (heard += 10))
  changes.tell({ kind: 'resync' })
  changes.tell({ kind: 'resync' })
  assert.equal(heard, 21)
})
