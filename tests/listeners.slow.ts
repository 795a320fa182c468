// Goal: no listener of ours keeps a silent connection, or half of a request. Method: each is opened by the function that its
// program uses, and tested with raw sockets. Packages without a line here are found by listenerBounds.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:net'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { connect as connectSecure } from 'node:tls'

import { hostServer } from '@skerry/host-api'
import { healthServer, listenerBounds, makeIssuer, makeKey } from '@skerry/service'

import { ours } from '../apps/cloud/src/dialect/dialect.ts'
import { buildServer as buildCloud } from '../apps/cloud/src/http/server.ts'
import { openMachineListener } from '../apps/cloud/src/machine-api/server.ts'
import { openConsoleListener as openConsole } from '../apps/console/src/server.ts'
import { makeServer as makeEgress } from '../apps/egress/src/server.ts'
import { Gate } from '../apps/vmd/src/local/access/gate.ts'
import { buildServer as buildWorkflow } from '../apps/workflow/src/http/server.ts'

const log = () => undefined
const span = {
  notBefore: new Date(Date.now() - 60_000),
  notAfter: new Date(Date.now() + 3_600_000),
}
const tls = await makeIssuer({ key: await makeKey(), serial: '01', subject: 'test', ...span })
const trusted = { hosts: tls.cert, control: tls.cert }

/** Not used by a connection that never sends a request. */
const untouched = {} as never

interface Opened {
  readonly server: Server
  readonly secure: boolean
  readonly close?: () => PromiseLike<void>
}

const listeners: Readonly<Record<keyof typeof listenerBounds, () => Promise<Opened>>> = {
  async api() {
    const options = { tls, dialect: ours, requestId: () => '1', log }
    const api = buildCloud(untouched, [], untouched, options)
    await api.ready()
    return { server: api.server, secure: true }
  },
  async workflow() {
    const context = { base: new URL('https://workflow.example') } as never
    const api = buildWorkflow(context, [], untouched, { tls, requestId: () => '1', log })
    await api.ready()
    return { server: api.server, secure: true }
  },
  async machines() {
    const context = { identity: () => ({ cell: tls, trusted }), log }
    const api = openMachineListener(context as unknown as Parameters<typeof openMachineListener>[0])
    return { server: api.server, secure: true, close: () => api[Symbol.asyncDispose]() }
  },
  async console() {
    const api = openConsole({ tls: () => tls, log } as unknown as Parameters<typeof openConsole>[0])
    return { server: api.server, secure: true, close: () => api[Symbol.asyncDispose]() }
  },
  health: async () => ({ server: healthServer(untouched), secure: false }),
  egress: async () => ({ server: makeEgress(untouched), secure: false }),
  async host() {
    const server = hostServer({ ...tls, ca: tls.cert }, untouched, {
      cloud: 'test',
      epochs: untouched,
    })
    return { server, secure: true }
  },
  async local() {
    const gate = new Gate({ api: { kind: 'file' }, admits: async () => true, log })
    const server = gate.serve((_request, response) => void response.end())
    server.on('clientError', (error, socket) => void gate.refuse(error, socket as Socket))
    return { server, secure: false }
  },
}

async function closedWithin(socket: Socket, ms: number): Promise<void> {
  socket.resume()
  socket.on('error', () => undefined)
  if (!socket.destroyed) await once(socket, 'close', { signal: AbortSignal.timeout(ms) })
}

/** Node.js checks once a second, and the machine may be busy. */
const SLACK_MS = 10_000

test(
  'no listener keeps a connection that is silent, or half of a request',
  { concurrency: true },
  async (t) => {
    const tests = Object.entries(listeners).map(([name, open]) =>
      t.test(name, async () => {
        const { handshakeMs, headMs } = listenerBounds[name as keyof typeof listenerBounds]
        const { server, secure, close } = await open()
        server.listen(0, '127.0.0.1')
        await once(server, 'listening')
        const { port } = server.address() as AddressInfo
        const dial = () => connect({ port, host: '127.0.0.1' })
        const silent = closedWithin(dial(), (secure ? handshakeMs : headMs) + SLACK_MS)
        const half = secure
          ? connectSecure({ socket: dial(), ...tls, rejectUnauthorized: false })
          : dial()
        half.write('GET / HTTP/1.1\r\nhost:')
        await Promise.all([silent, closedWithin(half, headMs + SLACK_MS)])
        if (close) await close()
        else server.close()
        assert.ok(!server.listening)
      }),
    )
    await Promise.all(tests)
  },
)
