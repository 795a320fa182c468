import { isUtf8 } from 'node:buffer'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'

import { Fault } from '@skerry/fault'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'

import type { KeyAndCert } from '../identity/bundle.ts'
import { createListener, createSecureListener, type ListenerOptions } from './listener.ts'

type Handle = (request: IncomingMessage, response: ServerResponse) => void

/** What differs between the servers with routes: cells, workflow servers and vmd. */
export interface ApiServerOptions {
  /** Makes the HTTP server that passes requests on; `boundedListener` is the usual one. */
  readonly listener: (handle: Handle) => Server
  readonly bodyBytesMax: number
  readonly router: { readonly maxParamLength: number; readonly ignoreTrailingSlash: boolean }
  /** The id of each request, and the response header that carries it. */
  readonly requestId?: { readonly header: string; readonly next: () => string }
  /** Maps other paths of the same routes. */
  readonly rewriteUrl?: (url: string) => string
  /** Whether `close` also ends requests in progress. Default: they finish. */
  readonly endsRequests?: boolean
  /** Answers a failed request. The error may be of any kind; `unreadable` knows those of the HTTP library. */
  readonly sendFault: (error: unknown, request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** Answers a request that no route matches, or throws the error for `sendFault`. */
  readonly sendNotFound: (request: FastifyRequest, reply: FastifyReply) => FastifyReply
  /** Answers input that is not HTTP, on the socket itself; `refuseUnread` makes such a function. */
  readonly refuseUnread: (error: NodeJS.ErrnoException, socket: Socket) => void
}

/** The shell of a server with routes, without a route: `mount` adds them. Every body is a text, which its route parses. */
export function createApiServer(options: ApiServerOptions): FastifyInstance {
  const { requestId, rewriteUrl, sendFault } = options
  const named = (request: FastifyRequest, reply: FastifyReply): FastifyReply =>
    requestId ? reply.header(requestId.header, request.id) : reply
  const server = fastify({
    serverFactory: options.listener,
    bodyLimit: options.bodyBytesMax,
    routerOptions: options.router,
    forceCloseConnections: options.endsRequests === true ? true : 'idle',
    clientErrorHandler: options.refuseUnread,
    // Errors of the router bypass hooks and the error handler.
    frameworkErrors: (error, request, reply) =>
      void sendFault(error, request, named(request, reply as FastifyReply)),
    ...(requestId && { genReqId: requestId.next }),
    ...(rewriteUrl && { rewriteUrl: ({ url = '/' }: IncomingMessage) => rewriteUrl(url) }),
  }) as FastifyInstance
  if (requestId) {
    // Not async: each asynchronous hook costs every request a turn of the event loop's queue.
    server.addHook('onRequest', (request, reply, done) => {
      named(request, reply)
      done()
    })
  }
  server.setErrorHandler(sendFault)
  server.setNotFoundHandler(options.sendNotFound)
  takeText(server)
  return server
}

/** The certificate of a listener, and who may connect. */
export interface ListenerTls extends KeyAndCert {
  /** The issuer of the certificates that clients must present. Default: a client needs none. */
  readonly clientIssuer?: string
}

/** A listener with these limits, over TLS if there is a certificate. */
export const boundedListener =
  (options: ListenerOptions, tls?: ListenerTls) =>
  (handle: Handle): Server =>
    (tls ? createSecureListener(options, secureOptions(tls)) : createListener(options)).on(
      'request',
      handle,
    )

const secureOptions = ({ key, cert, clientIssuer }: ListenerTls) => ({
  key,
  cert,
  ...(clientIssuer !== undefined && {
    ca: clientIssuer,
    minVersion: 'TLSv1.3' as const,
    requestCert: true,
    rejectUnauthorized: true,
  }),
})

/** The route decides how its body is parsed, not the Content-Type header. */
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

/** What the HTTP library rejects is the caller's error: too large, too long, not a URL. Otherwise undefined. */
export function unreadable(error: unknown): Fault | undefined {
  const { statusCode, message } = error as { statusCode?: number; message?: string }
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new Fault('invalid', `the request cannot be read: ${message}`, { cause: error })
    : undefined
}

/** Shows this certificate to new connections; open connections continue. */
export function showCertificate({ server }: FastifyInstance, tls: ListenerTls): void {
  if (server instanceof TlsServer) server.setSecureContext(secureOptions(tls))
}
