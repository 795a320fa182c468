// Goal: what a history holds can be read by nobody without the key, and is not changed unseen. Method: the codec itself.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { defaultPayloadConverter, type Payload } from '@temporalio/common'

import { codecOf } from '../src/worker/codec.ts'

const first = { id: 'first', key: randomBytes(32) }
const second = { id: 'second', key: randomBytes(32) }
const random = (bytes: number) => randomBytes(bytes)
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)

test('a value is sealed and opened again, whatever it is', async () => {
  const codec = codecOf({ keys: [first], random })
  for (const value of [{ word: 'plain' }, 'plain', null, undefined, [], 'ü'.repeat(10_000)]) {
    const [sealed] = await codec.encode([payloadOf(value)])
    assert.ok(sealed !== undefined)
    assert.ok(!Buffer.from(sealed.data ?? []).includes('plain'))
    const [opened] = await codec.decode([sealed])
    assert.ok(opened !== undefined)
    assert.deepEqual(defaultPayloadConverter.fromPayload(opened), value)
  }
})

test('nothing is sealed too, as the workflow that returns it hands it over', async () => {
  const codec = codecOf({ keys: [first], random })
  const nothing = { ...payloadOf(undefined), data: [] as never }
  const [opened] = await codec.decode(await codec.encode([nothing]))
  assert.ok(opened !== undefined)
  assert.equal(defaultPayloadConverter.fromPayload(opened), undefined)
})

test('the same value is another text each time, and one that was changed is not opened', async () => {
  const codec = codecOf({ keys: [first], random })
  const payload = payloadOf({ word: 'plain' })
  const [one, other] = await codec.encode([payload, payload])
  assert.ok(one?.data && other?.data)
  assert.notDeepEqual(one.data, other.data)
  for (const at of [0, 13, one.data.length - 1]) {
    const data = Buffer.from(one.data)
    data[at] = (data[at] ?? 0) ^ 1
    await assert.rejects(codec.decode([{ ...one, data }]))
  }
})

test('an old key opens what it sealed, and one that is not there is named', async () => {
  const before = codecOf({ keys: [first], random })
  const after = codecOf({ keys: [second, first], random })
  const sealed = await before.encode([payloadOf(1)])
  const [opened] = await after.decode(sealed)
  assert.equal(opened && defaultPayloadConverter.fromPayload(opened), 1)
  const [now] = await after.encode([payloadOf(2)])
  assert.equal(Buffer.from(now?.metadata?.['key'] ?? []).toString(), 'second')
  await assert.rejects(before.decode(now ? [now] : []), /the key second sealed cannot be opened/)
  const plain = payloadOf('from before')
  assert.deepEqual(await after.decode([plain]), [plain])
})
