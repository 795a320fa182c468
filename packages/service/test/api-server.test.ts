// Goal: every server with routes reads bodies, names requests and rejects what it cannot read in the same way. Method: a real
// server on loopback, with raw sockets for what no client library would send.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'

import { Fault, httpStatus } from '@skerry/fault'
import type { FastifyInstance } from 'fastify'

import {
  boundedListener,
  createApiServer,
  listenerBounds,
  refuseUnread,
  unreadable,
} from '../src/index.ts'

interface Opened extends AsyncDisposable {
  readonly server: FastifyInstance
  /** Sends these bytes and returns everything that comes back. */
  raw(bytes: string | Buffer): Promise<string>
}

async function open(): Promise<Opened> {
  let count = 0
  const server = createApiServer({
    listener: boundedListener({ bounds: listenerBounds.api }),
    bodyBytesMax: 100,
    router: { maxParamLength: 10, ignoreTrailingSlash: true },
    requestId: { header: 'x-request-id', next: () => `r-${(count += 1)}` },
    rewriteUrl: (url) => url.replace(/^\/old\//, '/new/'),
    sendFault(error, _request, reply) {
      const fault = error instanceof Fault ? error : unreadable(error)
      return reply.code(fault ? httpStatus[fault.kind] : 500).send(fault?.message ?? 'a bug')
    },
    sendNotFound() {
      throw new Fault('not-found', 'nothing here')
    },
    refuseUnread: refuseUnread(
      (status, message) => ({ type: 'text/plain', body: `${status} ${message}` }),
      { 'x-content-type-options': 'nosniff' },
    ),
  })
  server.post('/new/:name', (request) => ({ got: request.body }))
  await server.listen({ port: 0, host: '127.0.0.1' })
  const { port } = server.server.address() as AddressInfo
  return {
    server,
    async raw(bytes) {
      const socket = connect({ port, host: '127.0.0.1' })
      await once(socket, 'connect')
      socket.write(bytes)
      return text(socket)
    },
    [Symbol.asyncDispose]: () => server.close(),
  }
}

const post = (path: string, body: Buffer): Buffer => {
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-type: any/thing\r\n`
  return Buffer.concat([Buffer.from(`${head}content-length: ${body.length}\r\n\r\n`), body])
}

test('a body is a text of any type, if it is UTF-8', async () => {
  await using api = await open()
  assert.match(await api.raw(post('/new/a', Buffer.from('tide ≈'))), /^HTTP\/1\.1 200 [^]*"tide ≈"/)
  // Two invalid sequences that would be replaced by a text of the same length.
  const invalid = Buffer.from([0xe2, 0x82, 0x41, 0xff])
  assert.match(await api.raw(post('/new/a', invalid)), / 400 [^]*the body must be UTF-8$/)
  assert.match(await api.raw(post('/new/a', Buffer.alloc(101))), / 400 [^]*cannot be read: .*large/)
})

test('every response has the id of its request, also if no route was found or the path is malformed', async () => {
  await using api = await open()
  const found = await api.raw(post('/old/a', Buffer.from('x')))
  assert.match(found, /^HTTP\/1\.1 200 [^]*x-request-id: r-1\r\n/)
  const lost = await api.raw(post('/lost', Buffer.from('x')))
  assert.match(lost, /^HTTP\/1\.1 404 [^]*x-request-id: r-2\r\n[^]*nothing here$/)
  const malformed = await api.raw(post('/new/%zz', Buffer.from('x')))
  assert.match(malformed, /^HTTP\/1\.1 400 [^]*x-request-id: r-3\r\n[^]*cannot be read/)
  const long = await api.raw(post(`/new/${'x'.repeat(11)}`, Buffer.from('x')))
  assert.match(long, /^HTTP\/1\.1 4\d\d [^]*x-request-id: r-4\r\n/)
})

test('input that is not HTTP is answered on the socket, which is then closed', async () => {
  await using api = await open()
  assert.equal(
    await api.raw('not HTTP\r\n\r\n'),
    'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain\r\nx-content-type-options: nosniff\r\ncontent-length: 31\r\nconnection: close\r\n\r\n400 the request is not HTTP/1.1',
  )
  const large = await api.raw(`GET / HTTP/1.1\r\nhost: a\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`)
  assert.match(large, /^HTTP\/1\.1 431 /)
})
