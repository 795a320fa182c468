import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { attribute, readJson, readXml } from '@skerry/xml'
import type { FastifyRequest } from 'fastify'

import type { RequestKey } from '../database/request-keys.ts'
import { isJsonBody } from './format.ts'

const LENGTH_MAX = 255
const LEGAL = /^\P{Cc}+$/u

/**
 * The client's key for a request, so that repeating the request returns the same Task: the header Idempotency-Key, the attribute
 * operationKey of the document, or the query parameter operationKey if there is no document. The same key must mean the same
 * request, so the hash covers method, address and body.
 */
export function requestKeyOf(
  request: FastifyRequest,
  takesDocument: boolean,
): RequestKey | undefined {
  const { headers, method, url, query, body } = request
  const { operationKey } = query as { readonly operationKey?: unknown }
  const given = [
    headers['idempotency-key'],
    operationKey,
    takesDocument ? keyInside(request) : undefined,
  ]
  const [key, ...others] = given.filter((each) => each !== undefined)
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !LEGAL.test(key) || key.length > LENGTH_MAX) {
    const expected = `must be a single value of at most ${LENGTH_MAX} characters, without control characters`
    throw new Fault('invalid', `Idempotency-Key, or operationKey, ${expected}`)
  }
  if (others.some((each) => each !== key)) {
    throw new Fault(
      'invalid',
      'a request can have only one key: Idempotency-Key and operationKey differ',
    )
  }
  const hash = createHash('sha256').update(
    JSON.stringify([method, url, typeof body === 'string' ? body : '']),
  )
  return { key, bodyHash: hash.digest() }
}

function keyInside(request: FastifyRequest): unknown {
  const { body } = request
  // Most documents have no key, and are parsed only once, by their route.
  if (typeof body !== 'string') return undefined
  if (!isJsonBody(request)) {
    return body.includes('operationKey') ? attribute(readXml(body), 'operationKey') : undefined
  }
  // In JSON, letters of a key may be escaped.
  if (!body.includes('operationKey') && !body.includes('\\')) return undefined
  const value = readJson(body) as { readonly operationKey?: unknown } | null
  return value?.operationKey
}
