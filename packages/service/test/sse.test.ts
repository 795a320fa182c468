// Goal: a reliable event stream, in which a slow reader cannot exhaust memory.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'

import fastify from 'fastify'

import { eventStream, mount, streamHeaders, type Message, type Route } from '../src/index.ts'

const message = (id: number, data: unknown = { id }): Message => ({ id, event: 'vm.power', data })

test('messages are written with their id, name and one line of data, after the cursor they start from', async () => {
  async function* source() {
    yield message(8, { text: 'two\nlines' })
    yield message(9)
  }
  const stream = eventStream(source, { since: 7 })
  const text = (await stream.toArray()).join('')
  assert.equal(
    text,
    'id: 7\nretry: 1000\n\n' +
      'id: 8\nevent: vm.power\ndata: {"text":"two\\nlines"}\n\n' +
      'id: 9\nevent: vm.power\ndata: {"id":9}\n\n',
  )
})

test('a message without an id does not move the position of the reader', async () => {
  async function* source(): AsyncGenerator<Message> {
    yield { event: 'progress', data: { percent: 5 } }
  }
  const text = (await eventStream(source, { since: 7 }).toArray()).join('')
  assert.equal(text, 'id: 7\nretry: 1000\n\nevent: progress\ndata: {"percent":5}\n\n')
})

test('an idle stream sends comments', async () => {
  async function* silent(signal: AbortSignal): AsyncGenerator<Message> {
    await once(signal, 'abort')
    yield message(1)
  }
  const stream = eventStream(silent, { since: 0, heartbeatMs: 5 })
  const seen: string[] = []
  for await (const chunk of stream) {
    seen.push(String(chunk))
    if (seen.join('').includes(':\n\n:\n\n')) break
  }
  assert.match(seen.join(''), /^id: 0\nretry: 1000\n\n(:\n\n)+$/)
})

test('a reader that stops reading is disconnected, and little is buffered for it until then', async () => {
  let made = 0
  const ended = Promise.withResolvers<void>()
  async function* endless(signal: AbortSignal) {
    try {
      for (let id = 1; !signal.aborted; id++) {
        made += 1
        yield message(id, 'x'.repeat(1000))
      }
    } finally {
      ended.resolve()
    }
  }
  const stream = eventStream(endless, { since: 0, patienceMs: 30 })
  await once(stream, 'close')
  await ended.promise
  assert.ok(made < 300, `${made} messages of 1 kB were made for a reader that read nothing`)
})

test('the source is released when the reader disconnects', async () => {
  const gone = Promise.withResolvers<void>()
  async function* source(signal: AbortSignal) {
    yield message(1)
    await once(signal, 'abort')
    gone.resolve()
  }
  const stream = eventStream(source, { since: 0 })
  await once(stream, 'data')
  stream.destroy()
  await gone.promise
})

test('a failing source ends the stream instead of leaving a gap in it', async () => {
  async function* source(): AsyncGenerator<Message> {
    yield message(1)
    throw new Error('the rest is gone')
  }
  const stream = eventStream(source, { since: 0 })
  await assert.rejects(stream.toArray(), { code: 'ERR_STREAM_PREMATURE_CLOSE' })
})

test('a reader at the other end of a connection that never reads is cut off', async () => {
  async function* endless(signal: AbortSignal) {
    for (let id = 1; !signal.aborted; id++) yield message(id, 'x'.repeat(10_000))
  }
  await using server = fastify({ forceCloseConnections: true })
  server.get('/', (_request, reply) =>
    reply.headers(streamHeaders).send(eventStream(endless, { since: 0, patienceMs: 100 })),
  )
  await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const served = once(server.server, 'connection') as Promise<[Socket]>
  const reader = connect({ host: '127.0.0.1', port }).pause()
  reader.on('error', () => undefined)
  reader.write('GET / HTTP/1.1\r\nhost: here\r\n\r\n')
  const [socket] = await served
  await once(socket, 'close')
  reader.destroy()
})

test('HEAD of a stream ends the stream', async () => {
  const ended = Promise.withResolvers<void>()
  async function* silent(signal: AbortSignal): AsyncGenerator<Message> {
    await once(signal, 'abort')
    ended.resolve()
    yield message(1)
  }
  const route: Route<undefined, object, 'any'> = {
    name: 'readEvents',
    method: 'GET',
    path: '/events',
    permission: 'any',
    answers: {},
    doc: 'Events.',
    handle: async () => ({ status: 200, body: eventStream(silent, { since: 0 }) }),
  }
  await using server = fastify()
  mount(server, [route], undefined, {
    admit: () => ({ caller: {}, params: {} }),
    send: (reply, _row, _caller, { status, body }) => reply.code(status).send(body),
  })
  const { statusCode } = await server.inject({ method: 'HEAD', url: '/events' })
  assert.equal(statusCode, 200)
  await ended.promise
})
