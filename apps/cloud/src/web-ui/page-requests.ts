// What addresses beside the API read of the requests of pages, and how they answer.
import { Fault } from '@skerry/fault'
import { cookieIn, pageHeaders } from '@skerry/service'
import type { FastifyReply, FastifyRequest } from 'fastify'

import type { Sessions } from '../auth/sessions.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Principal } from '../domain/authorize.ts'
import { pageTokenIn } from '../http/page-request.ts'

export interface PageRequests {
  readonly sessions: Pick<Sessions, 'find'>
  readonly dialect: Dialect
  /** The public address of the cloud. */
  readonly base: URL
  readonly moreHeaders?: () => Readonly<Record<string, string>>
}

/** Only the session of a page of ours: no other site and no script. */
export async function principalOf(
  { sessions, dialect: { pageCookie }, base }: PageRequests,
  request: FastifyRequest,
): Promise<Principal> {
  const token = pageCookie === undefined ? undefined : pageTokenIn(request, pageCookie, base)
  const principal = token === undefined ? undefined : await sessions.find(token)
  if (principal) return { ...principal, address: request.ip }
  throw new Fault('unauthenticated', 'this address is for pages of this cloud with a session')
}

export const sendJson = (
  { moreHeaders }: Pick<PageRequests, 'moreHeaders'>,
  reply: FastifyReply,
  status: number,
  value: object,
): FastifyReply =>
  reply
    .code(status)
    .headers({ ...pageHeaders(), ...moreHeaders?.(), 'cache-control': 'no-store' })
    .type('application/json')
    .send(JSON.stringify(value))

/** undefined: it is no JSON. */
export function jsonIn({ body }: FastifyRequest): unknown {
  try {
    return JSON.parse(typeof body === 'string' ? body : '')
  } catch {
    return undefined
  }
}

const SECRET = /^[\w-]{43}$/

/** The secret in the cookie of a browser that is logging in; undefined: it has none yet. */
export function browserIn(
  { headers }: FastifyRequest,
  { attemptCookie: name }: Pick<Dialect, 'attemptCookie'>,
): string | undefined {
  const known = cookieIn(headers.cookie, name) ?? ''
  return SECRET.test(known) ? known : undefined
}

/** Lax: the browser comes back from another site. The prefix of the cookie's name keeps it from other hosts. */
export const attemptCookie = (
  { attemptCookie: name }: Pick<Dialect, 'attemptCookie'>,
  browser: string,
  seconds: number,
): string => `${name}=${browser}; Secure; Path=/; HttpOnly; SameSite=Lax; Max-Age=${seconds}`
