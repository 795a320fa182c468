import {
  fromJson,
  isObjectShape,
  jsonMedia,
  keysOf,
  readJson,
  renderDocument,
  toJson,
  type Element,
} from '@skerry/xml'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { isJson, readAccept } from '../dialect/accept.ts'
import { shapeOf } from '../dialect/shapes.ts'
import type { Version } from '../dialect/version.ts'

/** Sends a document in the format that the request accepts. */
export function sendDocument(
  reply: FastifyReply,
  root: Element,
  { media, version }: { readonly media: string; readonly version: Version },
): FastifyReply {
  const { format, isPlainJson } = readAccept(reply.request.headers.accept)
  reply.header('vary', 'accept')
  if (format === 'xml') return reply.type(`${media};version=${version}`).send(renderDocument(root))
  const type = isPlainJson ? 'application/json' : jsonMedia(media)
  // As bytes: Fastify rewrites the type of a text that is JSON.
  return reply.type(`${type};version=${version}`).send(Buffer.from(renderJson(root)))
}

export const renderJson = (root: Element): string =>
  `${JSON.stringify(toJson(root, shapeOf(root.name)))}\n`

/** Whether the body is JSON: by its first character, since a document in XML begins with '<', or by its type. */
export const isJsonBody = ({ headers, body }: Pick<FastifyRequest, 'headers' | 'body'>): boolean =>
  typeof body === 'string' &&
  body.trim() !== '' &&
  (/^\s*\{/.test(body) || (!/^\s*</.test(body) && isJson(headers['content-type'] ?? '')))

/** The document in XML that a body in JSON stands for. `element`: its name, or several: 'VApp or Vm'. */
export function xmlOfJson(body: string, element: string): string {
  const value = readJson(body)
  const names = element.split(' or ')
  const name = names.find((each) => hasKeysOf(each, value)) ?? names[0] ?? element
  return renderDocument(fromJson(name, shapeOf(name), value))
}

function hasKeysOf(element: string, value: unknown): boolean {
  const shape = shapeOf(element)
  if (typeof value !== 'object' || value === null || !isObjectShape(shape)) return false
  const known = keysOf(shape)
  return Object.keys(value).every((key) => known.includes(key))
}
