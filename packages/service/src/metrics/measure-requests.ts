import type { FastifyInstance, FastifyRequest } from 'fastify'

import type { ServerMeter } from './server-meter.ts'

/** The route name that `mount` has set. */
const nameOf = ({ routeOptions }: FastifyRequest): string | undefined =>
  (routeOptions.config as { readonly name?: string }).name

/** Counts and times the responses of a server. `streams`: routes with long-lived responses. */
export function measureRequests(
  server: FastifyInstance,
  meter: Pick<ServerMeter, 'request'>,
  streams: ReadonlySet<string> = new Set(),
): void {
  server.addHook('onResponse', (request, reply, done) => {
    const name = nameOf(request)
    const seconds = name !== undefined && streams.has(name) ? 'streamed' : reply.elapsedTime / 1000
    meter.request(name, { method: request.method, status: reply.statusCode, seconds })
    done()
  })
}
