import { Fault } from '@skerry/fault'
import { element, renderDocument } from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Dialect } from './dialect.ts'
import { rooted } from './edge.ts'
import { knownVersion } from './version.ts'

const RETRY_SECONDS = 2

/** Faults are answered in their own words; anything else is our mistake and says only that. */
export function sendFault(dialect: Dialect, log: (message: string, cause: unknown) => void) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const fault = asFault(error)
    if (!fault) log(`${request.method} ${request.routeOptions.url ?? 'nowhere'}`, error)
    const status = fault ? dialect.status[fault.kind] : 500
    if (status === 401) reply.header('www-authenticate', `Basic realm="${dialect.realm}"`)
    if (status === 503) reply.header('retry-after', RETRY_SECONDS)
    // Who asked too often is told for how long.
    if (status === 429) reply.header('retry-after', fault?.detail ?? RETRY_SECONDS)
    const message = fault
      ? [fault.message, fault.hint].filter(Boolean).join('; ')
      : `request ${request.id} failed by a mistake of ours`
    const code = (fault?.kind ?? 'internal-server-error').toUpperCase().replaceAll('-', '_')
    const body = element('Error', { majorErrorCode: status, minorErrorCode: code, message })
    const version = knownVersion(undefined, request.headers.accept)
    return reply
      .code(status)
      .type(`${dialect.media('error')};version=${version}`)
      .send(renderDocument(rooted(body, dialect.namespace)))
  }
}

/** What the HTTP library refuses is the caller's mistake: too large, too long, not a URL. */
function asFault(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  const { statusCode, message } = error as { statusCode?: number; message?: string }
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new Fault('invalid', `the request cannot be read: ${message}`, { cause: error })
    : undefined
}
