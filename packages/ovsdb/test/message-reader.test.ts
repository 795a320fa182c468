import assert from 'node:assert/strict'
import { test } from 'node:test'

import { MessageReader } from '../src/message-reader.ts'

const messages = [
  { id: 1, result: [], error: null },
  { text: 'brackets }]{[ and quotes " and \\ and \\" and €, 🌊', nested: [[{ a: ['{'] }]] },
  { method: 'update', params: [null, {}] },
]
const bytes = Buffer.from(messages.map((each) => JSON.stringify(each)).join(''))

function readAll(chunks: readonly Buffer[], maxBytes = 1_000): unknown[] {
  const received: unknown[] = []
  const reader = new MessageReader(maxBytes, (message) => void received.push(message))
  for (const chunk of chunks) reader.push(chunk)
  return received
}

test('messages are whole wherever their bytes are cut', () => {
  for (let first = 0; first <= bytes.length; first += 1) {
    for (let second = first; second <= bytes.length; second += 7) {
      const chunks = [
        bytes.subarray(0, first),
        bytes.subarray(first, second),
        bytes.subarray(second),
      ]
      assert.deepEqual(readAll(chunks), messages)
    }
  }
  assert.deepEqual(readAll([...bytes].map((byte) => Buffer.of(byte))), messages)
})

test('blanks between messages are skipped', () => {
  assert.deepEqual(readAll([Buffer.from('\n {"a":1}\r\n\t{"a":2} \n')]), [{ a: 1 }, { a: 2 }])
})

test('a message at the bound is read, one byte more is refused before it is complete', () => {
  const message = Buffer.from(JSON.stringify({ text: 'x'.repeat(89) }))
  assert.equal(message.length, 100)
  assert.equal(readAll([message, message], 100).length, 2)
  assert.throws(() => readAll([message], 99), /more than 99 bytes/)
  assert.throws(
    () => readAll([Buffer.from(`{"text":"${'x'.repeat(100)}`)], 99),
    /more than 99 bytes/,
  )
})

test('what is no JSON object is refused', () => {
  for (const text of ['x', '1', '"{}"', '}', '{]', '{"a":}', '{"a" 1}']) {
    assert.throws(() => readAll([Buffer.from(text)]), Error, text)
  }
})

test('nothing is received after a stop, not even the rest of a chunk', () => {
  const received: unknown[] = []
  const reader = new MessageReader(1_000, (message) => {
    received.push(message)
    reader.stop()
  })
  reader.push(bytes)
  reader.push(bytes)
  assert.equal(received.length, 1)
})
