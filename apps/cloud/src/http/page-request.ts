import type { FastifyReply, FastifyRequest } from 'fastify'

import { ACCESS_TOKEN } from '../auth/sessions.ts'

type BrowserRequest = Pick<FastifyRequest, 'method' | 'headers'>

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/**
 * Whether a page of this cloud sends the request. Browsers set both headers themselves, and no page can change them. A link, a form or
 * a script of another site has another value of Sec-Fetch-Site; a request that can change something must also name our origin.
 */
export const isFromPage = ({ method, headers }: BrowserRequest, base: URL): boolean =>
  headers['sec-fetch-site'] === 'same-origin' &&
  (READS.has(method) || headers.origin === base.origin)

/** The token in the cookie of a page. An API token is for scripts: in a cookie it counts for nothing. */
export function pageTokenIn(
  request: BrowserRequest,
  cookie: string,
  base: URL,
): string | undefined {
  if (!isFromPage(request, base)) return undefined
  const pairs = (request.headers.cookie ?? '').split(';').map((pair) => pair.trim())
  const [token, ...others] = pairs
    .filter((pair) => pair.startsWith(`${cookie}=`))
    .map((pair) => pair.slice(cookie.length + 1))
  if (token === undefined || others.length > 0 || token.startsWith(ACCESS_TOKEN)) return undefined
  return token
}

/** An empty token removes the cookie. */
export const setCookie = (cookie: string, token: string): string =>
  `${cookie}=${token}; Secure; Path=/; HttpOnly; SameSite=Strict${token === '' ? '; Max-Age=0' : ''}`

/**
 * A browser that is led to an address of the API shows nothing of it and runs nothing: documents share an origin with the cookie, and
 * browsers render XML.
 */
export const restrict = (reply: FastifyReply): FastifyReply =>
  reply.headers({
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin',
  })
