import { Fault } from '@skerry/fault'
import type { Seal } from '@skerry/service'
import { isUuid } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import { arrive } from '../directories/arrive.ts'
import { Unproved, type LoginProof, type OpenIdServers } from '../directories/ask-openid.ts'
import { openIdAccessTo } from '../directories/identity-providers.ts'
import { beginAttempt, takeAttempt } from '../directories/login-attempts.ts'
import { personOfClaims, type Claims, type ClaimsProblem } from '../directories/person-of-claims.ts'
import { loginPaths } from '../domain/openid-settings.ts'
import { endSessionsFrom } from '../tenants/logins.ts'
import type { Sessions } from './sessions.ts'

/**
 * Why a login in the browser failed; the login page has a text for each. `attempt`: not begun in this browser, or too long ago;
 * `unavailable`: the identity server or the database does not answer; `unproved`: its answer proves nothing; `access`: the person has no access here.
 */
export type LoginProblem = 'attempt' | 'unavailable' | 'unproved' | 'access' | ClaimsProblem

export interface OpenIdLoginOptions {
  readonly db: Kysely<CloudTables>
  readonly servers: OpenIdServers
  readonly sessions: Pick<Sessions, 'begin'>
  readonly seal: Seal
  readonly secret: () => string
  /** The public address of the cloud. */
  readonly base: URL
}

export interface Asking {
  /** The id of the identity server. */
  readonly provider: string
  /** The secret in the cookie of the browser. */
  readonly browser: string
  readonly address: string
}

type Server = Selectable<CloudTables['identity_provider']>

/** Logins of browsers with OpenID Connect. No token of an identity server is kept: a session of ours is all that stays. */
export class OpenIdLogins {
  readonly #given: OpenIdLoginOptions

  constructor(given: OpenIdLoginOptions) {
    this.#given = given
  }

  /** The identity servers of an organisation that a browser can be sent to. An unknown organisation has none, as many others. */
  async list(
    orgName: string,
  ): Promise<readonly { readonly name: string; readonly href: string }[]> {
    const { rows } = await sql<{ id: string; name: string }>`select provider.id, provider.name
      from identity_provider provider join org on org.id = provider.org
      where org.name = ${orgName} and not org.disabled and not provider.disabled and provider.kind = 'oidc'
      order by provider.name`.execute(this.#given.db)
    return rows.map(({ id, name }) => ({ name, href: loginPaths.begin(id) }))
  }

  /** Where the browser is sent. `returnTo`: a page of the web UI. */
  async begin(
    asking: Asking & { readonly returnTo: string; readonly isShared: boolean },
  ): Promise<URL> {
    const { db, servers, seal, secret } = this.#given
    const { provider, browser, returnTo, address, isShared } = asking
    const server = await this.#findServer(provider)
    if (!server) throw new Fault('not-found', 'there is no such identity server')
    const expected: LoginProof = { state: secret(), nonce: secret(), verifier: secret() }
    const redirect = this.#redirectTo(provider)
    const to = await servers.begin(this.#accessTo(server), redirect, expected)
    const attempt = { org: server.org, provider, browser, returnTo, expected }
    await beginAttempt(db, attempt, { address, isShared }, (text, about) => seal.close(text, about))
    return to
  }

  /** A session for the person whom the identity server has proved. `query`: what the browser came back with. */
  async complete(
    { provider, browser, address }: Asking,
    query: URLSearchParams,
  ): Promise<{ readonly token: string; readonly returnTo: string } | LoginProblem> {
    const { db, seal, servers, sessions } = this.#given
    const state = query.get('state') ?? ''
    const taken = { provider, state, browser }
    const attempt = await takeAttempt(db, taken, (sealed, about) => seal.open(sealed, about))
    const server = await this.#findServer(provider)
    if (!attempt || !server) return 'attempt'
    const came = new URL(`${this.#redirectTo(provider)}?${query.toString()}`)
    let claims: Claims
    try {
      claims = await servers.complete(this.#accessTo(server), came, attempt.expected)
    } catch (error) {
      if (!(error instanceof Unproved)) throw error
      await refused(db, server, { user: '', address }, error.message)
      return 'unproved'
    }
    const { settings } = this.#accessTo(server)
    const person = personOfClaims(settings, claims)
    const claimed = claims[settings.claims.name]
    const who = { user: typeof claimed === 'string' ? claimed.slice(0, NAME_MAX) : '', address }
    if (typeof person === 'string') {
      await refused(db, server, who, person)
      return person
    }
    const account = await arrive(db, server, person)
    if (!account) {
      await refused(db, server, who, 'access')
      return 'access'
    }
    const sid = typeof claims['sid'] === 'string' ? claims['sid'] : undefined
    const token = await sessions.begin(account, { address, provider: server, sid })
    return { token, returnTo: attempt.returnTo }
  }

  /** Ends the sessions that a logout at the identity server ends. Throws Unproved for a token that is not its order. */
  async logOut(provider: string, token: string): Promise<void> {
    const server = await this.#findServer(provider)
    if (!server) throw new Fault('not-found', 'there is no such identity server')
    const order = await this.#given.servers.readLogout(this.#accessTo(server), token)
    await endSessionsFrom(this.#given.db, server, order)
  }

  /** Enabled, of an organisation that is enabled. */
  async #findServer(id: string): Promise<Server | undefined> {
    if (!isUuid(id)) return undefined
    return this.#given.db
      .selectFrom('identity_provider')
      .innerJoin('org', 'org.id', 'identity_provider.org')
      .selectAll('identity_provider')
      .where('identity_provider.id', '=', id)
      .where('identity_provider.kind', '=', 'oidc')
      .where('identity_provider.disabled', '=', false)
      .where('org.disabled', '=', false)
      .executeTakeFirst()
  }

  #accessTo(server: Server) {
    return openIdAccessTo(server, (sealed, about) => this.#given.seal.open(sealed, about))
  }

  /** Each identity server has an address of its own, so that none can answer for another one. */
  #redirectTo(provider: string): string {
    return new URL(loginPaths.back(provider), this.#given.base).href
  }
}

const NAME_MAX = 128

/** Administrators learn why people cannot log in. */
async function refused(
  db: Kysely<CloudTables>,
  { org, name: via }: Server,
  came: { readonly user: string; readonly address: string },
  why: string,
): Promise<void> {
  const details = { ...by(came), via, why }
  await db.transaction().execute((tx) => emitEvent(tx, { kind: 'session.refused', org, details }))
}
