// Back-channel logout of OpenID Connect: an identity server says that somebody has logged out there.
import { createRemoteJWKSet, customFetch, jwtVerify, type JWTVerifyGetKey } from 'jose'

/** A session at the identity server, or all of a person. */
export interface LogoutOrder {
  readonly sid: string | undefined
  readonly sub: string | undefined
  /** When it was written. */
  readonly at: Date
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'
/** Only with a key pair: a secret that both know proves nothing here. */
const algorithms = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519', 'RS512', 'PS512']
/** How old a token may be. Not all servers give it an end. */
const YOUNG = '2 min'
const TOLERANCE_SECONDS = 60
const TEXT_MAX = 255

/** Keys are looked up again when an unknown one is used, at most once a minute. */
export const keysAt = (
  url: string,
  fetch: (url: string, options: { readonly headers: Headers }) => Promise<Response>,
): JWTVerifyGetKey =>
  createRemoteJWKSet(new URL(url), {
    cooldownDuration: 60_000,
    cacheMaxAge: 300_000,
    [customFetch]: fetch,
  })

/** Throws for a token that is not a fresh order of this identity server for this cloud. */
export async function readLogoutToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, client }: { readonly issuer: string; readonly client: string },
): Promise<LogoutOrder> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: client,
    algorithms,
    maxTokenAge: YOUNG,
    clockTolerance: TOLERANCE_SECONDS,
    requiredClaims: ['iat', 'jti', 'events'],
  })
  const { sub, sid, events, nonce, iat = 0 } = payload
  const { typ = 'JWT' } = protectedHeader
  const isOrder =
    /^(logout\+)?jwt$/i.test(typ) &&
    typeof events === 'object' &&
    events !== null &&
    EVENT in events
  // An ID token has a nonce: it must never pass for an order.
  if (!isOrder || nonce !== undefined) throw new Error('it is no logout token')
  const order = { sid: textIn(sid), sub: textIn(sub), at: new Date(iat * 1000) }
  if (order.sid === undefined && order.sub === undefined)
    throw new Error('it names neither a user nor a session')
  return order
}

const textIn = (value: unknown): string | undefined => {
  if (value === undefined) return undefined
  if (typeof value === 'string' && value !== '' && value.length <= TEXT_MAX) return value
  throw new Error('it names neither a user nor a session')
}
