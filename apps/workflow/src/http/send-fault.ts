import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import { Fault, httpStatus } from '@skerry/fault'
import { carried, renderDocument } from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { errorDocument } from '../documents/error.ts'
import { faultPage } from '../pages/fault-page.ts'
import { pageHeaders } from '../pages/html.ts'
import { Refusal } from './refusal.ts'
import { renderJson, rooted, typeOf } from './send.ts'
import { wantsOfFault } from './wants.ts'

const RETRY_SECONDS = 2
export const REALM = 'skerry workflow'

type Log = (message: string, cause?: unknown) => void

/** Faults are answered in their own words, in the asked format; anything else is our mistake and says only that. */
export function sendFault(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = asKnown(error)
    if (!known) log(`${request.method} ${request.routeOptions.url ?? 'nowhere'}`, error)
    const status = known instanceof Refusal ? known.status : statusOf(known)
    if (known instanceof Refusal) reply.headers(known.headers)
    if (status === 401) reply.header('www-authenticate', `Basic realm="${REALM}", charset="UTF-8"`)
    if (status === 503) reply.header('retry-after', RETRY_SECONDS)
    if (status === 429) reply.header('retry-after', (known as Fault).detail ?? RETRY_SECONDS)
    const format = wantsOfFault(request.headers.accept, request.url)
    if (format === 'html') reply.headers(pageHeaders)
    const body = rendered(format, {
      ...{ status, code: codeOf(known, status) },
      message: known?.message ?? `request ${request.id} failed by a mistake of ours`,
      ...(known instanceof Fault && known.hint !== undefined && { hint: known.hint }),
    })
    return reply
      .code(status)
      .header('vary', 'accept, authorization')
      .type(typeOf(format))
      .send(body)
  }
}

export interface Told {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string
}

function rendered(format: 'xml' | 'json' | 'html', told: Told): string {
  if (format === 'html') return faultPage(told)
  const { message, ...rest } = told
  // A message may repeat what was asked for, and an address can hold what no document can.
  const { xml, json } = errorDocument({ ...rest, message: carried(message) })
  return format === 'json' ? renderJson(json) : renderDocument(rooted(xml))
}

const statusOf = (fault: Fault | undefined): number => (fault ? httpStatus[fault.kind] : 500)

function codeOf(known: Fault | Refusal | undefined, status: number): string {
  if (known instanceof Fault) return known.kind
  const words = known ? (STATUS_CODES[status] ?? 'refused') : 'mistake of ours'
  return words.toLowerCase().replaceAll(' ', '-')
}

/** What the HTTP library refuses is the caller's mistake: too large, too long, not a URL. */
function asKnown(error: unknown): Fault | Refusal | undefined {
  if (error instanceof Fault || error instanceof Refusal) return error
  const { statusCode, message } = error as { statusCode?: number; message?: string }
  if (statusCode === 413) return new Refusal(413, 'the body of the request is too large')
  return statusCode !== undefined && statusCode >= 400 && statusCode < 500
    ? new Fault('invalid', `the request cannot be read: ${message}`, { cause: error })
    : undefined
}

const unread: Readonly<Record<string, readonly [status: number, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'the request did not come to its end in time'],
  HPE_HEADER_OVERFLOW: [431, 'the headers of the request are too large'],
}

/** What is no HTTP meets none of our rows: it is answered as it stands, and the connection ends. */
export function refuseUnread(error: NodeJS.ErrnoException, socket: Socket): void {
  const [status, message] = unread[error.code ?? ''] ?? [400, 'the request is not HTTP/1.1']
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const body = rendered('xml', { status, code: 'invalid', message })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `content-type: ${typeOf('xml')}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
}
