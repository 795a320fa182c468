// Goal: a client that sends nothing, or too little, holds a connection only for a bounded time. Method: real sockets against
// listeners with short limits, plain and over TLS.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { connect as connectSecure } from 'node:tls'

import { boundIdleOnly } from '../src/http/listener.ts'
import {
  createListener,
  createSecureListener,
  listenerBounds,
  makeIssuer,
  makeKey,
  markAuthenticated,
  type ListenerBounds,
} from '../src/index.ts'

const span = {
  notBefore: new Date(Date.now() - 60_000),
  notAfter: new Date(Date.now() + 3_600_000),
}
const tls = await makeIssuer({ key: await makeKey(), serial: '01', subject: 'test', ...span })

const short: ListenerBounds = {
  handshakeMs: 10_000,
  headMs: 300,
  bodyMs: 600,
  keepAliveMs: 300,
  connections: 100,
  unauthenticated: 50,
}
type Kind = 'plain' | 'secure'
const kinds: readonly Kind[] = ['plain', 'secure']

async function listen(kind: Kind, bounds: Partial<ListenerBounds>, shared: string[] = []) {
  const options = { bounds: { ...short, ...bounds }, sharedAddresses: shared }
  const server: Server =
    kind === 'plain' ? createListener(options) : createSecureListener(options, tls)
  server.on('request', (request, response) => {
    if (request.url === '/known') markAuthenticated(request.socket)
    if (request.url === '/stream') boundIdleOnly(request)
    void text(request).then(
      (body) => response.end(body),
      () => response.destroy(),
    )
  })
  // As our servers answer malformed requests.
  server.on('clientError', (_error, socket) => {
    socket.end('HTTP/1.1 408 late\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const sockets: Socket[] = []
  const dial = async (from = '127.0.0.1'): Promise<Socket> => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from })
    sockets.push(socket)
    socket.on('error', () => undefined)
    await once(socket, 'connect')
    return socket
  }
  return {
    server,
    dial,
    async greet(from?: string): Promise<Socket> {
      const raw = await dial(from)
      if (kind === 'plain') return raw
      const socket = connectSecure({ socket: raw, rejectUnauthorized: false })
      socket.on('error', () => undefined)
      await once(socket, 'secureConnect')
      return socket
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function closed(socket: Socket): Promise<void> {
  socket.resume()
  if (!socket.destroyed) await once(socket, 'close', { signal: AbortSignal.timeout(60_000) })
}

// They wait for time-outs, so they wait together.
describe('bounds of a listener', { concurrency: true }, () => {
  for (const kind of kinds) {
    test(`${kind}: a silent connection is closed`, async () => {
      await using silent = await listen(kind, { handshakeMs: 300 })
      await closed(await silent.dial())
      await using greeting = await listen(kind, {})
      await closed(await greeting.greet())
    })

    for (const streams of [undefined, true] as const) {
      const options = streams ? { streams } : {}
      test(`${kind}: an incomplete head and an incomplete body time out, streams: ${streams}`, async () => {
        await using listener = await listen(kind, options)
        const head = await listener.greet()
        head.write('POST / HTTP/1.1\r\nhost: a\r\n')
        await closed(head)
        const body = await listener.greet()
        body.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf')
        assert.match(await text(body), /^HTTP\/1.1 408/)
        const pieces = await listener.greet()
        pieces.write(
          'POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n',
        )
        assert.match(await text(pieces), /^HTTP\/1.1 408/)
      })
    }

    test(`${kind}: a streamed body may take longer`, async () => {
      await using listener = await listen(kind, { streams: true, headMs: 60_000, bodyMs: 50 })
      const other = await listener.greet()
      const socket = await listener.greet()
      socket.write(
        'PUT /stream HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\nconnection: close\r\n\r\nhalf',
      )
      other.write('PUT / HTTP/1.1\r\nhost: a\r\ncontent-length: 8\r\n\r\nhalf')
      await closed(other)
      socket.write('half')
      assert.match(await text(socket), /halfhalf$/)
    })

    test(`${kind}: over the limit of a network its oldest unauthenticated connection is closed, and no authenticated one`, async () => {
      const long = { handshakeMs: 60_000, headMs: 60_000, bodyMs: 60_000, keepAliveMs: 60_000 }
      await using listener = await listen(kind, { ...long, unauthenticated: 3 }, ['127.0.0.9'])
      const known = await listener.greet()
      known.write('GET /known HTTP/1.1\r\nhost: a\r\n\r\n')
      await once(known, 'data')
      const elsewhere = await listener.greet('127.0.0.2')
      const strangers: Socket[] = []
      for (let n = 0; n < 4; n += 1) strangers.push(await listener.greet())
      await closed(strangers[0] as Socket)
      const shared: Socket[] = []
      for (let n = 0; n < 6; n += 1) shared.push(await listener.greet('127.0.0.9'))
      for (const socket of [known, elsewhere, ...strangers.slice(1), ...shared]) {
        socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
        await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })
      }
    })

    test(`${kind}: a full listener closes its oldest unauthenticated connection`, async () => {
      const long = { handshakeMs: 60_000, headMs: 60_000, bodyMs: 60_000, keepAliveMs: 60_000 }
      await using listener = await listen(kind, { ...long, connections: 4 })
      const known = await listener.greet()
      known.write('GET /known HTTP/1.1\r\nhost: a\r\n\r\n')
      await once(known, 'data')
      const strangers: Socket[] = []
      for (let n = 0; n < 12; n += 1) strangers.push(await listener.greet(`127.0.0.${n + 2}`))
      const last = strangers.at(-1) as Socket
      for (const socket of [known, last]) {
        socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
        await once(socket, 'data', { signal: AbortSignal.timeout(60_000) })
      }
      await closed(strangers[0] as Socket)
    })
  }
})

test('every listener ends a handshake after 5 s, a head after 10 s and a body after 30 s', () => {
  for (const [name, bounds] of Object.entries(listenerBounds)) {
    assert.ok(bounds.handshakeMs <= 5000 && bounds.headMs <= 10_000, name)
    assert.ok(bounds.bodyMs <= 30_000 && bounds.headMs <= bounds.bodyMs, name)
    assert.ok(bounds.connections <= 20_000 && bounds.unauthenticated <= bounds.connections, name)
  }
})
