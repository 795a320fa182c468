import { cookieIn, isFromPage } from '@skerry/service'
import type { FastifyRequest } from 'fastify'

import { ACCESS_TOKEN } from '../auth/access-token.ts'
import type { Dialect } from '../dialect/dialect.ts'

/** The token in the cookie of a page. An API token is for scripts: in a cookie it counts for nothing. */
export function pageTokenIn(
  request: Pick<FastifyRequest, 'method' | 'headers'>,
  cookie: string,
  base: URL,
): string | undefined {
  if (!isFromPage(request, base.origin)) return undefined
  const token = cookieIn(request.headers.cookie, cookie)
  return token?.startsWith(ACCESS_TOKEN) ? undefined : token
}

/** The code of a second factor, as it was sent; an empty one is none. */
export function codeIn(
  { headers }: Pick<FastifyRequest, 'headers'>,
  { secondFactorHeader }: Pick<Dialect, 'secondFactorHeader'>,
): string | undefined {
  const code = headers[secondFactorHeader]?.toString().trim()
  return code === '' ? undefined : code
}

/** An empty token removes the cookie. */
export const setCookie = (cookie: string, token: string): string =>
  `${cookie}=${token}; Secure; Path=/; HttpOnly; SameSite=Strict${token === '' ? '; Max-Age=0' : ''}`

/**
 * A browser that is led to an address of the API shows nothing of it and runs nothing: documents share an origin with the cookie, and
 * browsers render XML.
 */
export const restrictions = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'cross-origin-resource-policy': 'same-origin',
} as const
