import { Fault } from '@skerry/fault'
import { readBasic } from '@skerry/service'
import type { FastifyRequest } from 'fastify'

import type { LoginCredentials } from '../auth/credentials.ts'
import type { Sessions } from '../auth/sessions.ts'
import type { Dialect } from '../dialect/dialect.ts'
import type { Principal } from '../domain/authorize.ts'
import { codeIn, pageTokenIn } from './page-request.ts'
import type { CloudRoute } from './route.ts'

/** Authenticates the caller. Each listener has one way to do that. Not called for public routes. */
export type Admission = (
  row: Pick<CloudRoute, 'permission'>,
  request: FastifyRequest,
) => Promise<{ readonly principal: Principal; readonly token: string }>

/**
 * Authentication of the tenant API: a password once, from then on the token that the login returned. The token is in a header, or in
 * the cookie of a page that the cloud serves.
 */
export const byToken =
  (sessions: Sessions, dialect: Dialect, base: URL): Admission =>
  async ({ permission }, request) => {
    const { ip } = request
    if (permission === 'login') return sessions.logIn(credentialsIn(request, dialect), ip)
    const { tokenHeader } = dialect
    const token = tokenOf(request, dialect, base)
    const principal = token === undefined ? undefined : await sessions.find(token)
    if (principal && token !== undefined) return { principal: { ...principal, address: ip }, token }
    throw new Fault(
      'unauthenticated',
      `send a valid token in the header ${tokenHeader}, or Authorization: Bearer`,
      {
        hint: 'log in: POST /api/sessions with the credentials of user@organisation',
      },
    )
  }

/** A header wins over the cookie, also if it has no valid token. */
function tokenOf(
  request: FastifyRequest,
  { tokenHeader, pageCookie }: Dialect,
  base: URL,
): string | undefined {
  const { headers } = request
  if (headers[tokenHeader] !== undefined) return tokenIn(headers[tokenHeader])
  if (headers.authorization !== undefined) return bearerIn(headers.authorization)
  return pageCookie === undefined ? undefined : pageTokenIn(request, pageCookie, base)
}

function credentialsIn(request: FastifyRequest, dialect: Dialect): LoginCredentials {
  const found = readBasic(request.headers.authorization)
  if (found) return { ...found, code: codeIn(request, dialect) }
  throw new Fault('unauthenticated', 'log in with Basic credentials of user@organisation')
}

/** Some clients send the header twice; two different values count as none. */
function tokenIn(header: string | readonly string[] | undefined): string | undefined {
  const [token, ...others] = new Set([header ?? []].flat().flatMap((each) => each.split(', ')))
  return others.length === 0 ? token : undefined
}

/** RFC 6750: the header that most HTTP clients can fill by themselves. */
const bearerIn = (header: string | undefined): string | undefined =>
  /^Bearer +([\w.~+/-]+=*) *$/i.exec(header ?? '')?.[1]
