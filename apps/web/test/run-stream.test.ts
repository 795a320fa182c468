// Goal: a stream that is refused is not requested again and again, and a page that no one looks at does not keep the session alive.
// Method: a fetch that answers from a list, a clock that the test moves, and a document that is shown or hidden.
import assert from 'node:assert/strict'
import { afterEach, mock, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'

import { requestEvents } from '../src/api/client.ts'
import { followRun } from '../src/api/run-stream.ts'

const page = Object.assign(new EventTarget(), { visibilityState: 'visible' })
Object.assign(globalThis, { document: page })
const show = (visibilityState: string): void => {
  page.visibilityState = visibilityState
  page.dispatchEvent(new Event('visibilitychange'))
}

afterEach(() => {
  mock.restoreAll()
  mock.timers.reset()
  show('visible')
})

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
})

/** Streams that stay open until the page closes them, and the ids after which they were requested. */
const openStreams = () => {
  const after: (string | undefined)[] = []
  let open = 0
  let newest: ReadableStreamDefaultController | undefined
  const send = (text: string): void => newest?.enqueue(new TextEncoder().encode(text))
  mock.method(globalThis, 'fetch', (_: string, { headers, signal }: RequestInit) => {
    after.push((headers as Record<string, string>)['last-event-id'])
    open += 1
    const body = new ReadableStream({
      start(stream) {
        newest = stream
        send(`id: ${after.length + 7}\ndata: {}\n\n`)
        signal?.addEventListener('abort', () => {
          open -= 1
          stream.error(signal.reason)
        })
      },
    })
    return Promise.resolve(new Response(body))
  })
  /** As a server does every 15 s. */
  const comment = (): void => send(':\n\n')
  return { after, comment, count: () => open }
}

const MINUTE_MS = 60_000

test('the stream of a run is closed when no one has looked for ten minutes, and continues when someone looks', async () => {
  mock.timers.enable({ apis: ['setTimeout'] })
  const streams = openStreams()
  const stop = new AbortController()
  const followed = followRun('/x/events', listener(), stop.signal)
  await turn()
  show('hidden')
  for (let minute = 0.5; minute < 10; minute += 0.5) {
    mock.timers.tick(MINUTE_MS / 2)
    streams.comment()
    await turn()
    assert.equal(streams.count(), 1, `${minute} min`)
  }
  mock.timers.tick(MINUTE_MS / 2)
  await turn()
  assert.deepEqual([streams.after, streams.count()], [['7'], 0])
  mock.timers.tick(60 * MINUTE_MS)
  await turn()
  assert.deepEqual(streams.after, ['7'], 'nothing is requested while the page is hidden')
  show('visible')
  await turn()
  assert.deepEqual([streams.after, streams.count()], [['7', '8'], 1])
  stop.abort()
  await followed
  assert.equal(streams.count(), 0)
})
