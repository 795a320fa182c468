import { Readable } from 'node:stream'

import { Fault } from '@skerry/fault'
import { Compile } from '@skerry/schema'
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onRequestAsyncHookHandler,
  RouteOptions,
} from 'fastify'

import { boundIdleOnly, endRefused } from './listener.ts'
import type { Answer, Body, Route } from './route.ts'

export interface Admitted<Caller> {
  readonly caller: Caller
  readonly params: object
  /** The body as its route reads it, if the request has it in another format. */
  readonly body?: string
}

export interface Edge<Caller, Row> {
  /** Authenticates the caller before the body is read; throws a Fault if that fails. `admit` comes later. */
  identify?(row: Row, request: FastifyRequest): Promise<void>
  /** Returns the caller and the resources that the path names; throws a Fault if the caller has no access. */
  admit(row: Row, request: FastifyRequest): Admitted<Caller> | Promise<Admitted<Caller>>
  send(reply: FastifyReply, row: Row, caller: Caller, answer: Answer): FastifyReply
}

/** Registers the routes on a server. The body is read only after `identify` has authenticated the caller. */
export function mount<Context, Caller, Permission extends string>(
  server: FastifyInstance,
  rows: readonly Route<Context, Caller, Permission>[],
  context: Context,
  edge: Edge<Caller, Route<Context, Caller, Permission>>,
): void {
  for (const row of rows) {
    const query = row.query && Compile(row.query)
    const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
      const admitted = edge.admit(row, request)
      const { caller, params, body } = admitted instanceof Promise ? await admitted : admitted
      if (query && !query.Check(request.query)) {
        const [first] = query.Errors(request.query)
        throw new Fault('invalid', `query: ${first?.instancePath.slice(1)} ${first?.message}`)
      }
      const said = await row.handle(context, {
        params,
        query: request.query,
        body: body === undefined ? bodyOf(row.takes, request) : row.takes?.read(body),
        ...caller,
      })
      // Fastify reads the body of a HEAD response to its end, and a stream of events has none.
      if (request.method === 'HEAD' && said.body instanceof Readable) said.body.destroy()
      edge.send(reply, row, caller, said)
    }
    const identify: onRequestAsyncHookHandler = async (request) => {
      await edge.identify?.(row, request).catch((error: unknown) => {
        endRefused(request.raw)
        throw error
      })
    }
    const stream: onRequestAsyncHookHandler = async ({ raw }) => boundIdleOnly(raw)
    const options: RouteOptions = {
      method: row.method,
      url: row.path,
      config: { name: row.name },
      onRequest: [...(edge.identify ? [identify] : []), ...(row.takes?.open ? [stream] : [])],
      // Not async: Fastify would await a reply that an async function returns once more.
      handler(request, reply) {
        answer(request, reply).catch((error: unknown) => reply.send(error))
      },
    }
    if (row.takes?.open) server.register(asBytes(options))
    else server.route(options)
  }
}

/** A scope of the server in which bodies are not read in advance. */
const asBytes = (options: RouteOptions) => async (scope: FastifyInstance) => {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
  scope.route(options)
}

function bodyOf(takes: Body<unknown> | undefined, { body, headers }: FastifyRequest): unknown {
  if (takes?.open) return takes.open((body as Readable | undefined) ?? Readable.from([]), headers)
  return takes?.read((body as string | undefined) ?? '')
}
