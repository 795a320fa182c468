// The only file that knows the OpenID Connect client.
import { Fault } from '@skerry/fault'
import * as openid from 'openid-client'

import type { OpenIdSettings } from '../domain/openid-settings.ts'
import { answerBounds, guardedFetch, type Guard } from './guarded-fetch.ts'
import { keysAt, readLogoutToken, type LogoutOrder } from './logout-token.ts'
import type { Claims } from './person-of-claims.ts'

/** The settings of an OpenID Connect server, and the secret of this cloud there. */
export interface OpenIdAccess {
  readonly id: string
  readonly name: string
  readonly settings: OpenIdSettings
  readonly secret: string
}

/** What a browser must come back with. All of it is secret. */
export interface LoginProof {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
}

/** The identity server, or what came from it, is not what was asked for. `why` is for administrators. */
export class Unproved extends Error {
  override readonly name = 'Unproved'
}

/** A discovery document is used for this long. Keys are looked up again when an unknown one is used, at most once a minute. */
const KNOWN_MS = 3_600_000
/** A failure is remembered for this long: a server that is away is not asked by every login. */
export const FAILED_MS = 2000
/** How much clocks may differ. */
const TOLERANCE_SECONDS = 60

interface DiscoveredServer {
  readonly config: openid.Configuration
  /** For tokens that the client does not check. */
  readonly keys: ReturnType<typeof keysAt>
}

interface Known {
  readonly key: string
  readonly at: number
  readonly found: Promise<DiscoveredServer>
}

export interface OpenIdOptions {
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly resolve?: Guard['resolve'] | undefined
}

/** The OpenID Connect servers that this cell has asked. */
export class OpenIdServers {
  readonly #options: OpenIdOptions
  readonly #known = new Map<string, Known>()

  constructor(options: OpenIdOptions) {
    this.#options = options
  }

  /** Where to send the browser. */
  async begin(access: OpenIdAccess, redirect: string, expected: LoginProof): Promise<URL> {
    const { scopes, acr } = access.settings
    const { config } = await this.#find(access)
    // Throws if the login page has no HTTPS address.
    return wrapErrors(async () =>
      openid.buildAuthorizationUrl(config, {
        redirect_uri: redirect,
        scope: scopes,
        state: expected.state,
        nonce: expected.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(expected.verifier),
        code_challenge_method: 'S256',
        ...(acr.length > 0 && { acr_values: acr.join(' ') }),
      }),
    )
  }

  /** What the identity server says about the person whose browser came back to this address. */
  async complete(access: OpenIdAccess, came: URL, expected: LoginProof): Promise<Claims> {
    const { config } = await this.#find(access)
    return wrapErrors(async () => {
      const tokens = await openid.authorizationCodeGrant(config, came, {
        expectedState: expected.state,
        expectedNonce: expected.nonce,
        pkceCodeVerifier: expected.verifier,
        idTokenExpected: true,
      })
      const claims: Claims = tokens.claims() ?? {}
      const { name, groups } = access.settings.claims
      const isWhole = claims[name] !== undefined && claims[groups] !== undefined
      if (isWhole || config.serverMetadata().userinfo_endpoint === undefined) return claims
      // Many servers say only there who somebody is.
      const more = await openid.fetchUserInfo(config, tokens.access_token, String(claims['sub']))
      return { ...more, ...claims }
    })
  }

  /** Who has logged out there, as this token says. */
  async readLogout(access: OpenIdAccess, token: string): Promise<LogoutOrder> {
    const { keys } = await this.#find(access)
    return wrapErrors(() => readLogoutToken(token, keys, access.settings))
  }

  /** Asks for the discovery document now. */
  async test(access: OpenIdAccess): Promise<void> {
    this.#known.delete(access.id)
    await this.#find(access)
  }

  #find(access: OpenIdAccess): Promise<DiscoveredServer> {
    const { id, settings, secret } = access
    const key = JSON.stringify([settings.issuer, settings.client, settings.ca, secret])
    const known = this.#known.get(id)
    const now = this.#options.now()
    if (known?.key === key && now - known.at < KNOWN_MS) return known.found
    const found = discover(access, this.#options.resolve)
    const fresh = { key, at: now, found }
    this.#known.set(id, fresh)
    found.catch(() => {
      // As if it was found long ago: it is asked again in a moment.
      if (this.#known.get(id) !== fresh) return
      this.#known.set(id, { ...fresh, at: this.#options.now() - KNOWN_MS + FAILED_MS })
    })
    return found
  }
}

async function discover(
  { settings: { issuer, client, ca }, secret }: OpenIdAccess,
  resolve: Guard['resolve'],
): Promise<DiscoveredServer> {
  const trusted = new URL(issuer).hostname.replace(/^\[(.*)\]$/, '$1')
  const guard: Guard = { trusted, ca, ...(resolve && { resolve }) }
  const config = await wrapErrors(() =>
    openid.discovery(
      new URL(issuer),
      client,
      { [openid.clockTolerance]: TOLERANCE_SECONDS },
      byItsMethods(secret),
      {
        // Without it, the client believes what comes by TLS, and checks no signature.
        execute: [openid.enableNonRepudiationChecks],
        timeout: answerBounds.ms / 1000,
        [openid.customFetch]: (address, { method, headers, body }) =>
          guardedFetch(guard, address, { method, headers, body: textOf(body) }),
      },
    ),
  )
  const at = config.serverMetadata().jwks_uri
  if (at === undefined) throw new Unproved('its discovery document names no keys')
  const keys = keysAt(at, (url, { headers }) =>
    guardedFetch(guard, url, { method: 'GET', headers: Object.fromEntries(headers) }),
  )
  return { config, keys }
}

const textOf = (body: openid.FetchBody): string | undefined => {
  if (body === null || body === undefined) return undefined
  if (typeof body === 'string') return body
  if (body instanceof URLSearchParams) return body.toString()
  throw new TypeError('an identity server is sent forms only')
}

/** The secret is sent as the server wants it. In a header, unless it accepts only a form. */
const byItsMethods =
  (secret: string): openid.ClientAuth =>
  (server, client, body, headers) => {
    const methods = server.token_endpoint_auth_methods_supported
    const how =
      methods === undefined || methods.includes('client_secret_basic')
        ? openid.ClientSecretBasic(secret)
        : openid.ClientSecretPost(secret)
    how(server, client, body, headers)
  }

/** Throws `unavailable` for a server that does not answer, and Unproved for an answer that proves nothing. */
async function wrapErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if (cause instanceof Fault) throw cause
    }
    throw new Unproved(reasonOf(error), { cause: error })
  }
}

/** Neither codes nor tokens are in it. */
function reasonOf(error: unknown): string {
  if (error instanceof openid.AuthorizationResponseError) return `it answered ${error.error}`
  if (error instanceof openid.ResponseBodyError) return `it answered ${error.error}`
  return error instanceof Error ? error.message : 'its answer is not valid'
}
