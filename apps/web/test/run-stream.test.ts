// Goal: a stream that is refused is not requested again and again. Method: a fetch that answers from a list, and a clock that the test moves.
import assert from 'node:assert/strict'
import { afterEach, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import { requestEvents } from '../src/api/client.ts'
import { followRun } from '../src/api/run-stream.ts'

afterEach(() => mock.restoreAll())

const answer = (...statuses: readonly number[]) => {
  let at = 0
  return mock.method(globalThis, 'fetch', () => {
    const status = statuses[Math.min(at, statuses.length - 1)] ?? 500
    at += 1
    return Promise.resolve(new Response('', { status }))
  })
}

const listener = (onGone = (): void => undefined) => ({
  after: 7,
  goesOn: () => true,
  onEvent: () => undefined,
  onGone,
})

test('a session that has ended is reported once, and the stream stays closed', async () => {
  const requests = answer(401)
  const ended = mock.method(requestEvents, 'onUnauthenticated', () => undefined)
  await followRun('/x/events', listener(), new AbortController().signal)
  assert.deepEqual([requests.mock.callCount(), ended.mock.callCount()], [1, 1])
})

test('a run that does not exist any longer ends its stream', async () => {
  const requests = answer(404)
  const gone = mock.fn()
  await followRun('/x/events', listener(gone), new AbortController().signal)
  assert.deepEqual([requests.mock.callCount(), gone.mock.callCount()], [1, 1])
})

test('too many streams are requested again less and less often', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const requests = answer(429)
  const stop = new AbortController()
  const followed = followRun('/x/events', listener(), stop.signal)
  const counts: number[] = []
  for (const ms of [0, 1000, 1000, 1000, 4000]) {
    mock.timers.tick(ms)
    await turn()
    counts.push(requests.mock.callCount())
  }
  assert.deepEqual(counts, [1, 2, 2, 3, 4])
  stop.abort()
  await followed
  mock.timers.reset()
})
