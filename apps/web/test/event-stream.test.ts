import assert from 'node:assert/strict'
import { test } from 'node:test'

import { EventTab, parseMessages } from '../src/api/event-stream.ts'
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

/** A tab, and what it reported and sent. */
function openTab() {
  const said: string[] = []
  const sent: unknown[] = []
  const tab = new EventTab(
    {
      onEvent: ({ event }) => said.push(event),
      onState: (state) => said.push(state),
      onReset: () => said.push('reset'),
      onUnauthenticated: () => said.push('unauthenticated'),
    },
    (shared) => sent.push(shared),
  )
  return { tab, said, sent }
}

test('a tab continues after the last event that any tab has seen', () => {
  const { tab, said, sent } = openTab()
  tab.deliver({ is: 'state', state: 'live', after: '7-1' })
  tab.deliver({ is: 'id', id: '8-1' })
  tab.deliver({ is: 'event', event: { event: 'vm.status', data: {} } })
  assert.equal(tab.lastId, '8-1')
  tab.deliver({ is: 'state', state: 'live', after: '8-1' })
  assert.deepEqual(said, ['live', 'vm.status', 'live'])
  tab.deliver({ is: 'ask' })
  assert.deepEqual(sent, [], 'only the tab that reads answers')
})

test('a tab reads everything again if the stream of another tab left out events', () => {
  const { tab, said } = openTab()
  tab.deliver({ is: 'state', state: 'live', after: '8-1' })
  tab.deliver({ is: 'state', state: 'live', after: undefined })
  assert.deepEqual(said, ['live', 'live', 'reset'])
  tab.deliver({ is: 'id', id: '20-1' })
  tab.deliver({ is: 'state', state: 'live', after: '20-1' })
  assert.deepEqual(said, ['live', 'live', 'reset', 'live'])
})

test('what was read before the first stream was open is read again', () => {
  const { tab, said } = openTab()
  tab.share({ is: 'state', state: 'live', after: undefined })
  tab.share({ is: 'id', id: '9-1' })
  tab.share({ is: 'state', state: 'lost', after: '9-1' })
  tab.share({ is: 'state', state: 'live', after: '9-1' })
  assert.deepEqual(said, ['live', 'reset', 'lost', 'live'])
})

test('a new tab gets the position of the stream from the tab that reads, until that gives the stream away', () => {
  const { tab, sent } = openTab()
  tab.share({ is: 'state', state: 'live', after: undefined })
  tab.share({ is: 'id', id: '9-1' })
  tab.deliver({ is: 'ask' })
  assert.deepEqual(sent.at(-1), { is: 'state', state: 'live', after: '9-1' })
  tab.leave()
  tab.deliver({ is: 'ask' })
  assert.equal(sent.length, 3)
})
