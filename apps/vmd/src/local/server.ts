import { Fault } from '@skerry/fault'
import { FILES_PATH, type FileRequest } from '@skerry/screen'
import { createApiServer, mount, pathOf, unreadable } from '@skerry/service'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'

import { Gate, type GateOptions } from './access/gate.ts'
import { Consoles } from './consoles.ts'
import { servePages } from './machine-ui.ts'
import type { LocalCaller, Local } from './route.ts'
import { routes } from './routes.ts'
import { faultAnswer } from './send-fault.ts'

const BODY_BYTES_MAX = 64 * 1024
const PARAM_LENGTH_MAX = 256

export interface LocalOptions extends GateOptions {
  /** Called once for every failed request, with its causes. */
  readonly log: (message: string, cause: unknown) => void
}

/** The local API: loopback, JSON, no credentials. */
export function buildLocalServer(local: Local, options: LocalOptions): FastifyInstance {
  const gate = new Gate({ ...options, pageSessions: local.webUi.sessions })
  const server = createApiServer({
    listener: (handle) =>
      gate.serve(handle, {
        wants: (request) => Consoles.wants(request),
        take: (upgrade) => void local.consoles.show(upgrade),
      }),
    bodyBytesMax: BODY_BYTES_MAX,
    router: { maxParamLength: PARAM_LENGTH_MAX, ignoreTrailingSlash: false },
    sendFault(error, request, reply) {
      const fault = error instanceof Fault ? error : (unreadable(error) ?? error)
      options.log(`${request.method} ${request.routeOptions.url ?? 'unknown path'}`, fault)
      const { status, body } = faultAnswer(fault, request.id)
      return reply.code(status).send(body)
    },
    sendNotFound: sayWhatThereIs,
    refuseUnread: (error, socket) => void gate.refuse(error, socket),
  })
  // Existing clients send bare words and JSON with any Content-Type or none, also malformed ones.
  server.addHook('onRequest', ({ headers }, _reply, done) => {
    if (headers['content-type'] !== undefined) headers['content-type'] = 'text/plain'
    done()
  })
  server.addHook('onResponse', (request, reply, done) => {
    const { name } = request.routeOptions.config as { readonly name?: string }
    local.meter.observe(name, request.method, reply.statusCode, reply.elapsedTime / 1000)
    done()
  })
  server.route({
    method: 'GET',
    url: `${FILES_PATH}*`,
    config: { name: 'readConsoleFile' },
    async handler(request, reply) {
      const file = await local.consoles.file(fileRequest(request))
      if (!file) return sayWhatThereIs(request, reply)
      return reply.code(file.status).headers(file.headers).send(file.body)
    },
  })
  servePages(server, local.webUi, {
    hasAccess: ({ raw }) => gate.carriesToken(raw),
    sendNotFound: sayWhatThereIs,
  })
  mount(server, routes, local, {
    admit: (_row, request) => ({
      caller: {
        uid: gate.uidOf(request.raw.socket),
        carriesToken: gate.carriesToken(request.raw),
        carriesTokenItself: gate.carriesTokenItself(request.raw),
        page: fileRequest(request),
        reads: request.headers.accept?.includes('text/html') === true,
        respondAsync: wantsToFollow(request.headers['prefer']),
        cookie: request.headers.cookie,
        lastEventId: request.headers['last-event-id']?.toString(),
      } satisfies LocalCaller,
      params: request.params as object,
    }),
    send: (reply, _row, _asker, { status, headers, body }) => {
      if (headers) reply.headers(headers)
      return reply.code(status).send(body)
    },
  })
  return server
}

/** Unmodified: the query string of a page is for the page alone. */
const fileRequest = ({ method, url, headers }: FastifyRequest): FileRequest => ({
  method,
  path: pathOf(url),
  headers,
})

/** RFC 7240: preferences are separated by commas, in one or several headers. */
const wantsToFollow = (prefer: string | string[] | undefined): boolean =>
  prefer !== undefined && /(^|,)\s*respond-async\s*($|[,;])/i.test(prefer.toString())

/** Split once: it is needed for every unknown path. */
const known = routes.map(({ method, path }) => ({ method, parts: path.split('/') }))

function sayWhatThereIs(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const words = pathOf(request.url).split('/')
  const allowed = known.filter(({ parts }) => matches(parts, words)).map(({ method }) => method)
  if (allowed.length === 0) {
    const message = 'path not found'
    return reply.code(404).send({ code: 404, message, hint: 'GET / lists all paths' })
  }
  const message = `method not allowed; allowed: ${allowed.join(', ')}`
  return reply.code(405).header('allow', allowed.join(', ')).send({ code: 405, message })
}

const matches = (parts: readonly string[], words: readonly string[]): boolean =>
  parts.length === words.length &&
  parts.every((part, at) => part.startsWith(':') || part === words[at])
