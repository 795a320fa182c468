import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import { Fault } from '@skerry/fault'
import { carried, element, renderDocument } from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Dialect, Refusal } from '../dialect/dialect.ts'
import { knownVersion } from '../dialect/version.ts'
import { rooted } from './edge.ts'

const RETRY_SECONDS = 2

/** Sends a Fault with its own message, any other error as an internal error without details. `as`: overrides the kind of the fault. */
export function sendFault(dialect: Dialect, log: (message: string, cause: unknown) => void) {
  return (
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
    as?: Refusal,
  ): FastifyReply => {
    const fault = asFault(error)
    if (!fault) log(`${request.method} ${request.routeOptions.url ?? 'unknown path'}`, error)
    const { status, code } = dialect.refusals[as ?? fault?.kind ?? 'mistake']
    if (status === 401) reply.header('www-authenticate', `Basic realm="${dialect.realm}"`)
    if (status === 503) reply.header('retry-after', RETRY_SECONDS)
    // The fault's detail is the delay in seconds.
    if (status === 429) reply.header('retry-after', fault?.detail ?? RETRY_SECONDS)
    const message = fault
      ? [fault.message, fault.hint].filter(Boolean).join('; ')
      : `request ${request.id} failed: internal error`
    const version = knownVersion(undefined, request.headers.accept)
    return reply
      .code(status)
      .type(`${dialect.media('error')};version=${version}`)
      .send(errorDocument(dialect, { status, code, message }))
  }
}

const errorDocument = (
  { namespace }: Dialect,
  { status, code, message }: Readonly<{ status: number; code: string; message: string }>,
): string => {
  // A message may quote the request, and a URL can contain characters that XML cannot.
  const said = carried(message)
  const body = element('Error', { majorErrorCode: status, minorErrorCode: code, message: said })
  return renderDocument(rooted(body, namespace('error')))
}

const unread: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request was not complete in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too large'],
}

/** Requests that are not valid HTTP reach no route: the response is written to the socket, which is then closed. */
export function refuseUnread(dialect: Dialect) {
  return (error: NodeJS.ErrnoException, socket: Socket): void => {
    const [status, message] = unread[error.code ?? ''] ?? [400, 'the request is not HTTP/1.1']
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy()
      return
    }
    const { code } = dialect.refusals.invalid
    const body = errorDocument(dialect, { status, code, message })
    const head = [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      `content-type: ${dialect.media('error')};version=${knownVersion(undefined, undefined)}`,
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
    ]
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  }
}

/** What the HTTP library rejects is the caller's error: too large, too long, not a URL. */
function asFault(error: unknown): Fault | undefined {
  if (error instanceof Fault) return error
  const { statusCode, message } = error as { statusCode?: number; message?: string }
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new Fault('invalid', `the request cannot be read: ${message}`, { cause: error })
    : undefined
}
