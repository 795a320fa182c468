// A page of the web UI that asks for passkeys, with its requests written by hand.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { text as textOf } from 'node:stream/consumers'

import type { FactorUsers, User } from './factor-users.ts'
import {
  SoftAuthenticator,
  type CreationOptions,
  type Lies,
  type RequestOptions,
} from './soft-authenticator.ts'
import { BASE, type TenantsApi } from './tenants-api.ts'

export interface Got {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  readonly value: Readonly<Record<string, unknown>>
}

const SESSION = '__Host-cloud-token'

/** A user with a session in a page, and a passkey. */
export async function enrolPasskey(
  api: TenantsApi,
  users: FactorUsers,
  user: User,
  authenticator = new SoftAuthenticator(),
) {
  const page = new PasskeyPage(api, { token: await users.enter(user), from: user.from })
  const added = await page.add(authenticator, 'laptop')
  assert.equal(added.status, 201, added.text)
  return { page, authenticator, codes: added.value['code'] as readonly string[] }
}

/** A browser with its cookies. */
export class PasskeyPage {
  readonly #api: Pick<TenantsApi, 'port'>
  readonly #from: string
  readonly cookies = new Map<string, string>()

  /** `token`: its session. */
  constructor(api: Pick<TenantsApi, 'port'>, { token = '', from = '127.0.0.1' } = {}) {
    this.#api = api
    this.#from = from
    if (token !== '') this.cookies.set(SESSION, token)
  }

  get token(): string {
    return this.cookies.get(SESSION) ?? ''
  }

  async post(
    path: string,
    body: unknown,
    more: Readonly<Record<string, string>> = {},
  ): Promise<Got> {
    const { promise, resolve, reject } = Promise.withResolvers<Got>()
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const sent = request(
      {
        host: '127.0.0.1',
        port: this.#api.port,
        method: 'POST',
        path,
        agent: false,
        localAddress: this.#from,
        headers: {
          accept: 'application/*+json;version=5.1',
          'content-type': 'application/json',
          'sec-fetch-site': 'same-origin',
          origin: BASE,
          ...(cookie !== '' && { cookie }),
          ...more,
        },
      },
      (response) => {
        textOf(response).then((text) => {
          const { statusCode: status = 0, headers } = response
          for (const line of headers['set-cookie'] ?? []) this.#keep(line)
          const value = text.startsWith('{') ? (JSON.parse(text) as Got['value']) : {}
          resolve({ status, headers, text, value })
        }, reject)
      },
    )
    sent.on('error', reject)
    sent.end(typeof body === 'string' ? body : JSON.stringify(body))
    return promise
  }

  #keep(line: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
    this.cookies.set(name, value)
  }

  async ask(): Promise<RequestOptions> {
    const { status, value, text } = await this.post('/login/passkey/challenge', {})
    assert.equal(status, 200, text)
    return value as unknown as RequestOptions
  }

  async logIn(authenticator: SoftAuthenticator, lies: Lies = {}): Promise<Got> {
    authenticator.counter += 1
    return this.post('/login/passkey', authenticator.show(await this.ask(), lies))
  }

  async prove(authenticator: SoftAuthenticator): Promise<Got> {
    authenticator.counter += 1
    return this.post('/login/passkey/proof', authenticator.show(await this.ask()))
  }

  askForNew(code?: string): Promise<Got> {
    return this.post(
      '/login/passkeys/challenge',
      {},
      code === undefined ? {} : { 'x-cloud-second-factor': code },
    )
  }

  async add(
    authenticator: SoftAuthenticator,
    name: string,
    { code, ...lies }: Lies & { readonly code?: string } = {},
  ): Promise<Got> {
    const asked = await this.askForNew(code)
    if (asked.status !== 200) return asked
    const passkey = authenticator.make(asked.value as unknown as CreationOptions, lies)
    return this.post('/login/passkeys', { name, passkey })
  }
}
