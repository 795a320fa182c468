import { isUtf8 } from 'node:buffer'
import { Server as TlsServer } from 'node:tls'

import { Fault } from '@skerry/fault'
import { mount } from '@skerry/service'
import fastify, { type FastifyInstance } from 'fastify'

import type { CloudRoute } from '../route.ts'
import type { RequestWorld } from '../world.ts'
import type { Admission } from './admission.ts'
import type { Dialect } from './dialect.ts'
import { makeEdge } from './edge.ts'
import { refuseUnread, sendFault } from './send-fault.ts'

/** PEM, both. */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
}

export interface DoorOptions {
  readonly dialect: Dialect
  readonly tls?: ServerCertificate
  readonly requestId: () => string
  readonly log: (message: string, cause?: unknown) => void
}

/** A door to the cloud's API: the rows are the same at each, who asks is found out as the door does it. */
export function buildServer(
  world: RequestWorld,
  routes: readonly CloudRoute[],
  admission: Admission,
  { dialect, tls, requestId, log }: DoorOptions,
): FastifyInstance {
  const answerFault = sendFault(dialect, log)
  const server = fastify({
    ...(tls && { https: tls }),
    bodyLimit: 1024 * 1024,
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    forceCloseConnections: true,
    clientErrorHandler: refuseUnread(dialect),
    frameworkErrors: (error, request, reply) =>
      void answerFault(error, request, reply.header(dialect.requestIdHeader, request.id)),
  }) as FastifyInstance
  server.addHook('onRequest', async (request, reply) => {
    reply.header(dialect.requestIdHeader, request.id)
  })
  server.addHook('onSend', async (_request, reply) => {
    // Names of headers are in small letters, also of those that Node.js would add in its own.
    reply.raw.sendDate = false
    reply.header('date', world.clock.now().toUTCString())
    if (!reply.hasHeader('connection')) {
      reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close')
    }
  })
  const nothing = new Fault('not-found', 'there is nothing at this address')
  server.setErrorHandler((error, request, reply) =>
    answerFault(error, request, reply, error === nothing ? 'nowhere' : undefined),
  )
  server.setNotFoundHandler(() => {
    throw nothing
  })
  // A row knows what it takes; the Content-Type header does not.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => {
      // Decoding would put other characters in the place of what is wrong.
      if (!isUtf8(body)) throw new Fault('invalid', 'the body must be UTF-8')
      return body.toString('utf8')
    },
  )
  mount(server, routes, world, makeEdge(world, admission, dialect))
  return server
}

/** From now on whoever connects is shown this certificate; whoever is connected stays so. */
export function showCertificate({ server }: FastifyInstance, tls: ServerCertificate): void {
  if (server instanceof TlsServer) server.setSecureContext({ ...tls })
}
