import { isUtf8 } from 'node:buffer'
import { Server as TlsServer } from 'node:tls'

import { Fault } from '@skerry/fault'
import { mount } from '@skerry/service'
import fastify, { type FastifyInstance } from 'fastify'

import type { WorkflowRoute } from '../route.ts'
import type { RequestWorld } from '../world.ts'
import { makeEdge } from './edge.ts'
import { Refusal } from './refusal.ts'
import { refuseUnread, sendFault } from './send-fault.ts'
import type { WhoIs } from './who.ts'

/** PEM, both. */
export interface ServerCertificate {
  readonly key: string
  readonly cert: string
}

export interface DoorOptions {
  readonly tls?: ServerCertificate
  readonly requestId: () => string
  readonly log: (message: string, cause?: unknown) => void
}

const BODY_MAX = 1024 * 1024

export function buildServer(
  world: RequestWorld,
  routes: readonly WorkflowRoute[],
  whoIs: WhoIs,
  { tls, requestId, log }: DoorOptions,
): FastifyInstance {
  const answerFault = sendFault(log)
  const edge = makeEdge(world, whoIs)
  const open = new Set(routes.filter((row) => row.permission === 'anyone').map(({ name }) => name))
  const server = fastify({
    ...(tls && { https: tls }),
    bodyLimit: BODY_MAX,
    genReqId: requestId,
    // Clients of later releases know the same addresses below another one.
    rewriteUrl: ({ url = '/' }) => url.replace(/^\/vco\/api(?=[/?]|$)/, '/api'),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1024 },
    // What is under way is answered before it stops.
    forceCloseConnections: 'idle',
    clientErrorHandler: refuseUnread,
    frameworkErrors: (error, request, reply) => void answerFault(error, request, reply),
  }) as FastifyInstance
  server.addHook('onRequest', async (request, reply) => {
    reply.header('x-request-id', request.id)
    const { name } = request.routeOptions.config as { readonly name?: string }
    if (name !== undefined && !open.has(name)) await edge.identify(request)
  })
  server.setErrorHandler(answerFault)
  server.setNotFoundHandler((request) => {
    throw whyNotFound(routes, request.method, request.url)
  })
  takeText(server)
  mount(server, routes, world, edge)
  return server
}

/** A row knows what it takes; the Content-Type header does not. */
function takeText(server: FastifyInstance): void {
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
}

/** An address that others use with another method says with which. */
function whyNotFound(
  routes: readonly WorkflowRoute[],
  method: string,
  url: string,
): Fault | Refusal {
  const path = (url.split('?')[0] ?? '').replace(/(?<=.)\/$/, '')
  const methods = routes.filter((row) => fits(row.path, path)).map((row) => row.method)
  if (methods.length === 0) return new Fault('not-found', 'there is nothing at this address')
  const allow = [...new Set(methods)].join(', ')
  return new Refusal(405, `${allow} is taken here, not ${method}`, { allow })
}

function fits(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith(':') && given[at] !== ''))
  )
}

/** From now on whoever connects is shown this certificate; whoever is connected stays so. */
export function showCertificate({ server }: FastifyInstance, tls: ServerCertificate): void {
  if (server instanceof TlsServer) server.setSecureContext({ ...tls })
}
