import assert from 'node:assert/strict'
import { test } from 'node:test'

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

test('a change of the domain, or of anything, makes it ask again', async () => {
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
  const began = performance.now()
  assert.equal(await asked, 'yes')
  assert(performance.now() - began < 900, 'it waited for its timer instead')
})

test('a change of another domain does not', async () => {
  const changes = new Changes()
  const ask = answering(2)
  const asked = changes.until('a', 150, ask)
  changes.tell({ kind: 'lifecycle', domain: 'b' })
  await new Promise(setImmediate)
  assert.equal(ask.times, 1)
  assert.equal(await asked, 'yes', 'it asks a last time when its time is over')
})

test('when the time is over it gives up, and listens no more', async () => {
  const changes = new Changes()
  const ask = answering(Infinity)
  assert.equal(await changes.until('a', 30, ask), undefined)
  const { times } = ask
  changes.tell({ kind: 'resync' })
  await new Promise(setImmediate)
  assert.equal(ask.times, times)
})

test('it asks once a second when nothing is told', async () => {
  const ask = answering(2)
  const began = performance.now()
  assert.equal(await new Changes().until('a', 5000, ask), 'yes')
  const took = performance.now() - began
  assert(took > 900 && took < 2500, `it took ${took} ms`)
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
