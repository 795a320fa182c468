import type { Answer } from '@skerry/service'
import { renderDocument } from '@skerry/xml'
import type { FastifyReply } from 'fastify'

import { isDocument, withNamespace } from '../documents/document.ts'
import { media, type ResponseFormat } from './wants.ts'

/** Text is UTF-8, with an explicit charset. */
export const typeOf = (format: ResponseFormat): string =>
  format === 'zip' ? media[format] : `${media[format]}; charset=utf-8`

export const renderJson = (value: unknown): string => `${JSON.stringify(value)}\n`

/** A drawing contains inline styles and must not do anything else. */
const drawingHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cache-control': 'private, no-cache',
} as const

/** Sends a document in the requested format; text, bytes and streams as they are. */
export function send(
  reply: FastifyReply,
  format: ResponseFormat,
  { status, headers = {}, body }: Answer,
): FastifyReply {
  const answer = reply
    .code(status)
    .headers({ vary: 'accept, authorization', 'x-content-type-options': 'nosniff' })
    .headers(format === 'svg' ? drawingHeaders : {})
    .headers(headers)
  if (body === undefined) return answer.send()
  if (!reply.hasHeader('content-type')) answer.type(typeOf(format))
  if (!isDocument(body)) return answer.send(body)
  return answer.send(
    format === 'json' ? renderJson(body.json) : renderDocument(withNamespace(body.xml)),
  )
}
