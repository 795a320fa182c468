// Goal: a history is unreadable without the key, and tampering is detected. Method: the codec itself.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { defaultPayloadConverter, type Payload } from '@temporalio/common'

import { codecOf } from '../src/runs/codec.ts'

const first = { id: 'first', key: randomBytes(32) }
const second = { id: 'second', key: randomBytes(32) }
const random = (bytes: number) => randomBytes(bytes)
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value)

test('any value can be sealed and opened', async () => {
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

test('undefined is sealed too, as a workflow returns it', async () => {
  const codec = codecOf({ keys: [first], random })
  const nothing = { ...payloadOf(undefined), data: [] as never }
  const [opened] = await codec.decode(await codec.encode([nothing]))
  assert.ok(opened !== undefined)
  assert.equal(defaultPayloadConverter.fromPayload(opened), undefined)
})

test('sealing is randomized, and tampered data is rejected', async () => {
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

test('an old key opens its data, and an unknown key is named in the error', async () => {
  const before = codecOf({ keys: [first], random })
  const after = codecOf({ keys: [second, first], random })
  const sealed = await before.encode([payloadOf(1)])
  const [opened] = await after.decode(sealed)
  assert.equal(opened && defaultPayloadConverter.fromPayload(opened), 1)
  const [now] = await after.encode([payloadOf(2)])
  assert.equal(Buffer.from(now?.metadata?.['key'] ?? []).toString(), 'second')
  await assert.rejects(before.decode(now ? [now] : []), /unknown key second/)
})

test('unsealed data decodes to undefined, also if it claims to be sealed', async () => {
  const codec = codecOf({ keys: [first], random })
  const plain = payloadOf({ goOn: true })
  const claims = { ...plain, metadata: { ...plain.metadata, key: Buffer.from('first') } }
  for (const payload of [plain, claims, { data: Buffer.from('{}') }, {}]) {
    const [read] = await codec.decode([payload])
    assert.equal(read && defaultPayloadConverter.fromPayload(read), undefined)
  }
})
