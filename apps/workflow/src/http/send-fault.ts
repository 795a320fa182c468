import { STATUS_CODES } from 'node:http'

import { Fault, httpStatus } from '@skerry/fault'
import { unreadable } from '@skerry/service'
import { withReplacements, renderDocument } from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { withNamespace } from '../documents/document.ts'
import { errorDocument } from '../documents/error.ts'
import { faultPage } from '../pages/fault-page.ts'
import { pageHeaders } from '../pages/html.ts'
import { WorkflowRefusal } from './refusal.ts'
import { renderJson, typeOf } from './send.ts'
import { wantsOfFault } from './wants.ts'

const RETRY_SECONDS = 2
export const REALM = 'skerry workflow'

type Log = (message: string, cause?: unknown) => void

/** Sends a fault with its message in the requested format. Any other error is internal, and its details are only logged. */
export function sendFault(log: Log) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const known = asKnown(error)
    if (!known) log(`${request.method} ${request.routeOptions.url ?? 'unknown path'}`, error)
    const status = known instanceof WorkflowRefusal ? known.status : statusOf(known)
    if (known instanceof WorkflowRefusal) reply.headers(known.headers)
    if (status === 401) reply.header('www-authenticate', `Basic realm="${REALM}", charset="UTF-8"`)
    if (status === 503) reply.header('retry-after', RETRY_SECONDS)
    if (status === 429) reply.header('retry-after', (known as Fault).detail ?? RETRY_SECONDS)
    const format = wantsOfFault(request.headers.accept, request.url)
    if (format === 'html') reply.headers(pageHeaders)
    const body = rendered(format, {
      status,
      code: codeOf(known, status),
      message: known?.message ?? `internal error in request ${request.id}`,
      ...(known instanceof Fault && known.hint !== undefined && { hint: known.hint }),
    })
    return reply
      .code(status)
      .header('vary', 'accept, authorization')
      .type(typeOf(format))
      .send(body)
  }
}

export interface RefusalAnswer {
  readonly status: number
  readonly code: string
  readonly message: string
  readonly hint?: string
}

function rendered(format: 'xml' | 'json' | 'html', answer: RefusalAnswer): string {
  if (format === 'html') return faultPage(answer)
  const { message, ...rest } = answer
  // A message may quote the request, and a URL can contain characters that a document cannot.
  const { xml, json } = errorDocument({ ...rest, message: withReplacements(message) })
  return format === 'json' ? renderJson(json) : renderDocument(withNamespace(xml))
}

const statusOf = (fault: Fault | undefined): number => (fault ? httpStatus[fault.kind] : 500)

function codeOf(known: Fault | WorkflowRefusal | undefined, status: number): string {
  if (known instanceof Fault) return known.kind
  const words = known ? (STATUS_CODES[status] ?? 'refused') : 'mistake of ours'
  return words.toLowerCase().replaceAll(' ', '-')
}

function asKnown(error: unknown): Fault | WorkflowRefusal | undefined {
  if (error instanceof Fault || error instanceof WorkflowRefusal) return error
  const { statusCode } = error as { statusCode?: number }
  if (statusCode === 413) return new WorkflowRefusal(413, 'the body of the request is too large')
  return unreadable(error)
}

/** The response to a request that is not valid HTTP. */
export const unreadDocument = (status: number, message: string) => ({
  type: typeOf('xml'),
  body: rendered('xml', { status, code: 'invalid', message }),
})
