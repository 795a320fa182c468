// A realm of a real Keycloak, made as docs/guides/identity.md says, and what its administrator does.
import assert from 'node:assert/strict'

import type { Keycloak } from '@skerry/lab'

import type { ProvedCell } from './proved-cell.ts'

const CLIENT = 'skerry'

/** Their secret is their name with `-secret`. */
export const person = (username: string, ...groups: readonly string[]) => ({
  username,
  enabled: true,
  email: `${username}@corp.example`,
  emailVerified: true,
  firstName: username,
  lastName: 'Example',
  credentials: [{ type: 'password', value: `${username}-secret` }],
  groups: groups.map((group) => `/${group}`),
})

const GROUPS = ['cloud-admins', 'developers'] as const

/** The client, before its addresses are known. */
const oidcClient = {
  clientId: CLIENT,
  protocol: 'openid-connect',
  publicClient: false,
  standardFlowEnabled: true,
  directAccessGrantsEnabled: false,
  serviceAccountsEnabled: false,
  frontchannelLogout: false,
  redirectUris: [] as readonly string[],
  attributes: { 'pkce.code.challenge.method': 'S256' } as Readonly<Record<string, string>>,
  protocolMappers: [
    {
      name: 'groups',
      protocol: 'openid-connect',
      protocolMapper: 'oidc-group-membership-mapper',
      config: {
        'claim.name': 'groups',
        'full.path': 'false',
        'id.token.claim': 'true',
        'access.token.claim': 'true',
        'userinfo.token.claim': 'true',
      },
    },
  ],
}

interface Named {
  readonly id: string
  readonly name?: string
}

export class Realm {
  readonly issuer: string
  readonly #keycloak: Keycloak
  readonly #at: string

  private constructor(keycloak: Keycloak, name: string) {
    this.#keycloak = keycloak
    this.#at = `realms/${name}`
    this.issuer = `${keycloak.origin}/${this.#at}`
  }

  /** With the groups `cloud-admins` and `developers`. */
  static async create(
    keycloak: Keycloak,
    realm: string,
    users: readonly ReturnType<typeof person>[] = [],
  ): Promise<Realm> {
    const groups = GROUPS.map((name) => ({ name }))
    await keycloak.administer('POST', 'realms', { realm, enabled: true, groups, users })
    return new Realm(keycloak, realm)
  }

  /** Adds it to the organisation `blue` as identity server `sso`, with a role for each group, and tests it. */
  async join(on: ProvedCell): Promise<void> {
    const at = ['--issuer', this.issuer, '--client', CLIENT, '--scopes', 'openid profile']
    const trusts = ['--ca', await on.file('keycloak.pem', this.#keycloak.ca)]
    const roles = ['cloud-admins=organisation administrator', 'developers=author']
    const groups = roles.flatMap((role) => ['--group', role])
    const to = ['--org', 'blue', ...groups, '--json']
    const secret = await this.#addClient()
    const made = await on.rule(secret, 'identity', 'create', 'sso', ...at, ...trusts, ...to)
    assert.equal(made.code, 0, made.err)
    await this.#register((JSON.parse(made.out) as { readonly redirectUrl: string }).redirectUrl)
    const tested = await on.rule('', 'identity', 'test', 'sso', '--org', 'blue')
    assert.equal(tested.code, 0, tested.err)
  }

  /** A request to the API of the realm's administration. */
  administer<T = unknown>(method: string, path: string, body?: unknown): Promise<T> {
    return this.#keycloak.administer<T>(method, `${this.#at}/${path}`, body)
  }

  async changeMember(method: 'PUT' | 'DELETE', user: string, group: string): Promise<void> {
    const groups = await this.administer<Named[]>('GET', 'groups')
    const to = groups.find(({ name }) => name === group)
    await this.administer(method, `${await this.#userPath(user)}/groups/${to?.id}`)
  }

  /** Ends all sessions of a user. */
  async signOut(user: string): Promise<void> {
    await this.administer('POST', `${await this.#userPath(user)}/logout`)
  }

  /** Returns the secret of the client. */
  async #addClient(): Promise<string> {
    await this.administer('POST', 'clients', oidcClient)
    const { value } = await this.administer<{ readonly value: string }>(
      'GET',
      `clients/${await this.#client()}/client-secret`,
    )
    return value
  }

  /** Enters the address that `skerry identity create` prints. */
  async #register(redirect: string): Promise<void> {
    await this.administer('PUT', `clients/${await this.#client()}`, {
      ...oidcClient,
      redirectUris: [redirect],
      attributes: {
        ...oidcClient.attributes,
        'backchannel.logout.url': redirect.replace(/back$/, 'logout'),
        'backchannel.logout.session.required': 'true',
      },
    })
  }

  async #userPath(user: string): Promise<string> {
    const [found] = await this.administer<Named[]>('GET', `users?exact=true&username=${user}`)
    return `users/${found?.id}`
  }

  async #client(): Promise<string> {
    const [found] = await this.administer<Named[]>('GET', `clients?clientId=${CLIENT}`)
    return found?.id ?? ''
  }
}
