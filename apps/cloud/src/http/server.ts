import { isUtf8 } from 'node:buffer'
import { Server as TlsServer } from 'node:tls'

import { Fault } from '@skerry/fault'
import { createListener, createSecureListener, listenerBounds, mount } from '@skerry/service'
import fastify, { type FastifyInstance } from 'fastify'

import type { RequestContext } from '../context.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Admission } from './admission.ts'
import { makeEdge } from './edge.ts'
import type { CloudRoute } from './route.ts'
import { refuseUnread, sendFault } from './send-fault.ts'

/** PEM, both. */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
}

export interface ServerOptions {
  readonly dialect: Dialect
  readonly tls?: ServerCertificate
  /** Addresses that many clients share, such as a load balancer's. */
  readonly sharedAddresses?: readonly string[] | undefined
  readonly requestId: () => string
  /** Adds request metrics; called before any route is added. */
  readonly measured?: (server: FastifyInstance) => void
  readonly log: (message: string, cause?: unknown) => void
}

/** Builds a listener of the cloud API: all have the same routes, each has its own way to authenticate callers. */
export function buildServer(
  context: RequestContext,
  routes: readonly CloudRoute[],
  admission: Admission,
  { dialect, tls, sharedAddresses, requestId, log, measured }: ServerOptions,
): FastifyInstance {
  const bounded = { bounds: listenerBounds.api, sharedAddresses }
  const answerFault = sendFault(dialect, log)
  const server = fastify({
    serverFactory: (handler) =>
      (tls ? createSecureListener(bounded, { ...tls }) : createListener(bounded)).on(
        'request',
        handler,
      ),
    bodyLimit: 1024 * 1024,
    genReqId: requestId,
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    forceCloseConnections: true,
    clientErrorHandler: refuseUnread(dialect),
    frameworkErrors: (error, request, reply) =>
      void answerFault(error, request, reply.header(dialect.requestIdHeader, request.id)),
  }) as FastifyInstance
  measured?.(server)
  server.addHook('onRequest', async (request, reply) => {
    reply.header(dialect.requestIdHeader, request.id)
  })
  server.addHook('onSend', async (_request, reply) => {
    // Header names are in lower case, also those that Node.js would otherwise add itself.
    reply.raw.sendDate = false
    reply.header('date', context.clock.now().toUTCString())
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
  // The route decides how its body is parsed, not the Content-Type header.
  server.removeAllContentTypeParsers()
  server.addContentTypeParser(
    '*',
    { parseAs: 'buffer' },
    async (_request: unknown, body: Buffer) => {
      // Decoding would silently replace invalid bytes.
      if (!isUtf8(body)) throw new Fault('invalid', 'the body must be UTF-8')
      return body.toString('utf8')
    },
  )
  mount(server, routes, context, makeEdge(context, admission, dialect))
  return server
}

/** Shows this certificate to new connections; open connections continue. */
export function showCertificate({ server }: FastifyInstance, tls: ServerCertificate): void {
  if (server instanceof TlsServer) server.setSecureContext({ ...tls })
}
