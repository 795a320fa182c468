// Who asks the simulated cell: accounts, sessions, and the rule by which a cookie counts.
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

import { accounts, rightsOf, type Role } from './inventory.ts'

export interface SimulatedCaller {
  readonly user: string
  readonly org: string
  readonly role: Role
}

export const PASSWORD = 'skerry'
export const COOKIE = 'cloud-token'

export const may = ({ role }: SimulatedCaller, right: string): boolean =>
  rightsOf[role].includes(right)

export class Sessions {
  readonly #tokens = new Map<string, SimulatedCaller>()

  /** Returns the token, or undefined for wrong credentials. */
  logIn(authorization: string | undefined): { token: string; caller: SimulatedCaller } | undefined {
    const encoded = /^Basic (.+)$/.exec(authorization ?? '')?.[1] ?? ''
    const [name = '', password = ''] = Buffer.from(encoded, 'base64')
      .toString('utf8')
      .split(/:(.*)/s)
    const role = accounts[name]
    if (!role || password !== PASSWORD) return undefined
    const [user = '', org = ''] = name.split('@')
    const token = randomBytes(32).toString('base64url')
    const caller = { user, org, role }
    this.#tokens.set(token, caller)
    return { token, caller }
  }

  endAll(): void {
    this.#tokens.clear()
  }

  end(request: IncomingMessage): void {
    this.#tokens.delete(cookieOf(request))
  }

  /** A cookie counts only if the browser says that a page of this origin sends the request. */
  callerOf(request: IncomingMessage): SimulatedCaller | undefined {
    const { headers, method } = request
    const header = headers['x-cloud-authorization']
    if (typeof header === 'string') return this.#tokens.get(header)
    if (headers['sec-fetch-site'] !== 'same-origin') return undefined
    const isRead = method === 'GET' || method === 'HEAD'
    if (!isRead && headers.origin !== `http://${headers.host}`) return undefined
    return this.#tokens.get(cookieOf(request))
  }
}

const cookieOf = ({ headers }: IncomingMessage): string =>
  new RegExp(`(?:^|; )${COOKIE}=([^;]+)`).exec(headers.cookie ?? '')?.[1] ?? ''
