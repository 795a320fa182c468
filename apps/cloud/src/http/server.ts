import { Fault } from '@skerry/fault'
import {
  boundedListener,
  createApiServer,
  listenerBounds,
  mount,
  refuseUnread,
  type KeyAndCert,
} from '@skerry/service'
import type { FastifyInstance } from 'fastify'

import type { RequestContext } from '../context.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Admission } from './admission.ts'
import { makeEdge } from './edge.ts'
import { restrictions } from './page-request.ts'
import type { CloudRoute } from './route.ts'
import { sendFault, unreadDocument } from './send-fault.ts'

export interface ServerOptions {
  readonly dialect: Dialect
  readonly tls?: KeyAndCert
  /** Addresses that many clients share, such as a load balancer's. */
  readonly sharedAddresses?: readonly string[] | undefined
  readonly requestId: () => string
  /** Adds request metrics; called before any route is added. */
  readonly measured?: (server: FastifyInstance) => void
  /** Adds routes beside the API's own, such as the web UI. */
  readonly pages?: ((server: FastifyInstance) => void) | undefined
  readonly log: (message: string, cause?: unknown) => void
}

/** Builds a listener of the cloud API: all have the same routes, each has its own way to authenticate callers. */
export function buildServer(
  context: RequestContext,
  routes: readonly CloudRoute[],
  admission: Admission,
  { dialect, tls, sharedAddresses, requestId, log, measured, pages }: ServerOptions,
): FastifyInstance {
  const nothing = new Fault('not-found', 'there is nothing at this address')
  const answerFault = sendFault(dialect, log)
  const server = createApiServer({
    listener: boundedListener({ bounds: listenerBounds.api, sharedAddresses }, tls),
    bodyBytesMax: 1024 * 1024,
    router: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    requestId: { header: dialect.requestIdHeader, next: requestId },
    endsRequests: true,
    sendFault: (error, request, reply) =>
      answerFault(error, request, reply, error === nothing ? 'noRoute' : undefined),
    sendNotFound() {
      throw nothing
    },
    refuseUnread: refuseUnread(unreadDocument(dialect), restrictions),
  })
  measured?.(server)
  server.addHook('onRequest', (_request, reply, done) => {
    reply.headers(restrictions)
    done()
  })
  server.addHook('onSend', (_request, reply, _payload, done) => {
    // Header names are in lower case, also those that Node.js would otherwise add itself.
    reply.raw.sendDate = false
    reply.header('date', context.clock.now().toUTCString())
    if (!reply.hasHeader('connection')) {
      reply.header('connection', reply.raw.shouldKeepAlive ? 'keep-alive' : 'close')
    }
    done()
  })
  mount(server, routes, context, makeEdge(context, admission, dialect))
  pages?.(server)
  return server
}
