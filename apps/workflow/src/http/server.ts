import { isUtf8 } from 'node:buffer'
import { Server as TlsServer } from 'node:tls'

import { Fault } from '@skerry/fault'
import { createListener, createSecureListener, listenerBounds, mount } from '@skerry/service'
import fastify, { type FastifyInstance } from 'fastify'

import type { WorkflowRequestContext } from '../context.ts'
import { makeEdge } from './edge.ts'
import { WorkflowRefusal } from './refusal.ts'
import type { WorkflowRoute } from './route.ts'
import { refuseUnread, sendFault } from './send-fault.ts'
import type { WhoIs } from './who.ts'

/** Both in PEM. */
export interface WorkflowServerCertificate {
  readonly key: string
  readonly cert: string
}

export interface WorkflowServerOptions {
  readonly tls?: WorkflowServerCertificate
  /** Addresses shared by many clients, such as a load balancer's. */
  readonly sharedAddresses?: readonly string[] | undefined
  readonly requestId: () => string
  /** Adds request metrics, before any route. */
  readonly measured?: (server: FastifyInstance) => void
  readonly log: (message: string, cause?: unknown) => void
}

const BODY_MAX = 1024 * 1024

export function buildServer(
  context: WorkflowRequestContext,
  routes: readonly WorkflowRoute[],
  whoIs: WhoIs,
  { tls, sharedAddresses, requestId, log, measured }: WorkflowServerOptions,
): FastifyInstance {
  const bounded = { bounds: listenerBounds.workflow, sharedAddresses }
  const answerFault = sendFault(log)
  const edge = makeEdge(context, whoIs)
  const server = fastify({
    serverFactory: (handler) =>
      (tls ? createSecureListener(bounded, { ...tls }) : createListener(bounded)).on(
        'request',
        handler,
      ),
    bodyLimit: BODY_MAX,
    genReqId: requestId,
    // Clients of later releases use the same paths under /vco.
    rewriteUrl: ({ url = '/' }) => url.replace(/^\/vco\/api(?=[/?]|$)/, '/api'),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    // Requests in progress finish before it stops.
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseUnread,
    frameworkErrors: (error, request, reply) => void answerFault(error, request, reply),
  }) as FastifyInstance
  measured?.(server)
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
  })
  server.setErrorHandler(answerFault)
  server.setNotFoundHandler((request) => {
    throw whyNotFound(routes, request.method, request.url)
  })
  takeText(server)
  mount(server, routes, context, edge)
  return server
}

/** Parse the body by route; ignore the Content-Type header. */
function takeText(server: FastifyInstance): void {
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
}

/** A known path with another method returns 405 with the allowed methods. */
function whyNotFound(
  routes: readonly WorkflowRoute[],
  method: string,
  url: string,
): Fault | WorkflowRefusal {
  const path = (url.split('?')[0] ?? '').replace(/(?<=.)\/$/, '')
  const methods = routes.filter((row) => fits(row.path, path)).map((row) => row.method)
  if (methods.length === 0) return new Fault('not-found', 'not found: no such path')
  const allow = [...new Set(methods)].join(', ')
  return new WorkflowRefusal(405, `expected the method ${allow}, not ${method}`, { allow })
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''))
  )
}

/** Presents this certificate on new connections; existing connections are kept. */
export function showCertificate({ server }: FastifyInstance, tls: WorkflowServerCertificate): void {
  if (server instanceof TlsServer) server.setSecureContext({ ...tls })
}
