import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sharedRead } from '../src/local/access/shared-read.ts'

/** Reads that end on demand, each with its number. */
function readings() {
  const begun: PromiseWithResolvers<number>[] = []
  const read = sharedRead(() => {
    const reading = Promise.withResolvers<number>()
    begun.push(reading)
    return reading.promise
  })
  return { begun, read, end: (at: number) => begun[at]?.resolve(at) }
}
const settled = () => new Promise(setImmediate)

test('all callers before a read begins share it', async () => {
  const { begun, read, end } = readings()
  const requested = [read(), read(), read()]
  await settled()
  assert.equal(begun.length, 1)
  end(0)
  assert.deepEqual(await Promise.all(requested), [0, 0, 0])
})

test('a caller during a read gets the next one, which begins when that one has ended', async () => {
  const { begun, read, end } = readings()
  const first = read()
  await settled()
  const late = [read(), read()]
  await settled()
  assert.equal(begun.length, 1)
  end(0)
  assert.equal(await first, 0)
  await settled()
  end(1)
  assert.deepEqual(await Promise.all(late), [1, 1])
  assert.equal(begun.length, 2)
})

test('no caller gets a read that ended before its call', async () => {
  const { read, end } = readings()
  for (const number of [0, 1, 2]) {
    const requested = read()
    await settled()
    end(number)
    assert.equal(await requested, number)
  }
})

test('a failed read fails the callers that share it, and not the next', async () => {
  const { begun, read, end } = readings()
  const requested = [read(), read()]
  await settled()
  const late = read()
  begun[0]?.reject(new Error('no'))
  for (const each of requested) await assert.rejects(each, /no/)
  await settled()
  end(1)
  assert.equal(await late, 1)
})
