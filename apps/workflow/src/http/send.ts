import type { Answer } from '@skerry/service'
import { renderDocument, type Element } from '@skerry/xml'
import type { FastifyReply } from 'fastify'

import { isDocument } from '../documents/document.ts'
import { media, type Format } from './wants.ts'

/** Of our own: what clients of this family look at are the names inside. */
export const NAMESPACE = 'urn:skerry:workflow'

/** Text comes as UTF-8, and says so. */
export const typeOf = (format: Format): string =>
  format === 'zip' ? media[format] : `${media[format]}; charset=utf-8`

export const rooted = (root: Element): Element => ({
  ...root,
  attributes: { xmlns: NAMESPACE, ...root.attributes },
})

export const renderJson = (value: unknown): string => `${JSON.stringify(value)}\n`

/** A drawing has its own colours, and may do nothing else. */
const drawingHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
  'cache-control': 'private, no-cache',
} as const

/** A document as it was asked for; text, bytes and streams as they are. */
export function send(
  reply: FastifyReply,
  format: Format,
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
  return answer.send(format === 'json' ? renderJson(body.json) : renderDocument(rooted(body.xml)))
}
