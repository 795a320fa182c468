import assert from 'node:assert/strict'
import { test } from 'node:test'

import { parseMessages } from '../src/api/event-stream.ts'
import { runForEach } from '../src/pages/vms/run-for-each.ts'

test('whole messages are read, and the rest is kept', () => {
  const text = 'id: 7-1\nevent: vm.status\ndata: {"vm":"a"}\n\n:\n\nid: 8-1\nevent: ta'
  const { messages, rest } = parseMessages(text)
  assert.deepEqual(messages, [
    { id: '7-1', event: { event: 'vm.status', data: { vm: 'a' } } },
    { id: undefined, event: undefined },
  ])
  assert.equal(rest, 'id: 8-1\nevent: ta')
})

test('a bulk action runs a few at a time and returns what failed', async () => {
  let running = 0
  let most = 0
  const failures = await runForEach([1, 2, 3, 4, 5, 6, 7], 3, async (item) => {
    running += 1
    most = Math.max(most, running)
    await Promise.resolve()
    running -= 1
    if (item % 3 === 0) throw new Error(`no ${item}`)
  })
  assert.ok(most <= 3)
  assert.deepEqual(
    failures.map(({ item, error }) => `${item}: ${error.message}`),
    ['3: no 3', '6: no 6'],
  )
})
