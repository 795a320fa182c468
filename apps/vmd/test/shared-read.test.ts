import assert from 'node:assert/strict'
import { test } from 'node:test'

import { sharedRead } from '../src/local/shared-read.ts'

/** Readings that end when they are told to, each with its number. */
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

test('all who ask before a reading begins share it', async () => {
  const { begun, read, end } = readings()
  const asked = [read(), read(), read()]
  await settled()
  assert.equal(begun.length, 1)
  end(0)
  assert.deepEqual(await Promise.all(asked), [0, 0, 0])
})

test('whoever asks while one is under way gets the next, which begins when that one has ended', async () => {
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

test('nobody is given a reading that ended before he asked', async () => {
  const { read, end } = readings()
  for (const number of [0, 1, 2]) {
    const asked = read()
    await settled()
    end(number)
    assert.equal(await asked, number)
  }
})

test('a reading that fails fails those who share it, and not the next', async () => {
  const { begun, read, end } = readings()
  const asked = [read(), read()]
  await settled()
  const late = read()
  begun[0]?.reject(new Error('no'))
  for (const each of asked) await assert.rejects(each, /no/)
  await settled()
  end(1)
  assert.equal(await late, 1)
})
