import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { attribute, readXml } from '@skerry/xml'
import type { FastifyRequest } from 'fastify'

import type { RequestKey } from '../store/request-keys.ts'

const LENGTH_MAX = 255
const LEGAL = /^\P{Cc}+$/u

/**
 * What a client calls its request, so that the same one again is the same Task: in the header Idempotency-Key, as the attribute
 * operationKey of the document it sends, or as the parameter of that name where it sends none. The same key must mean the same
 * request: what is asked for is part of it.
 */
export function requestKeyOf(
  { headers, method, url, query, body }: FastifyRequest,
  takesDocument: boolean,
): RequestKey | undefined {
  const { operationKey } = query as { readonly operationKey?: unknown }
  const given = [
    headers['idempotency-key'],
    operationKey,
    takesDocument ? keyInside(body) : undefined,
  ]
  const [key, ...others] = given.filter((each) => each !== undefined)
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !LEGAL.test(key) || key.length > LENGTH_MAX) {
    const expected = `must be one word of at most ${LENGTH_MAX} characters, none of them a control character`
    throw new Fault('invalid', `Idempotency-Key, or operationKey, ${expected}`)
  }
  if (others.some((each) => each !== key)) {
    throw new Fault('invalid', 'a request has one key: Idempotency-Key and operationKey differ')
  }
  const hash = createHash('sha256').update(
    JSON.stringify([method, url, typeof body === 'string' ? body : '']),
  )
  return { key, bodyHash: hash.digest() }
}

function keyInside(body: unknown): string | undefined {
  // Most have none, and are read once only, by whoever needs what is in them.
  if (typeof body !== 'string' || !body.includes('operationKey')) return undefined
  return attribute(readXml(body), 'operationKey')
}
