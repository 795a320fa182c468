import { createHash } from 'node:crypto'

import type { WorkflowPrincipal } from '../identity/rights.ts'

interface KnownSession {
  readonly principal: WorkflowPrincipal
  readonly until: number
}

/** A session that has ended, or whose user has another role, is noticed after at most this time. */
const REMEMBER_MS = 5000
const MOST = 10_000

/** Sessions of the web UI. An event stream checks its session twice a second, so an accepted one is remembered for a moment. */
export class PageSessions {
  readonly #ask: (token: string) => Promise<WorkflowPrincipal | undefined>
  readonly #now: () => number
  readonly #known = new Map<string, KnownSession>()

  /** `ask`: asks the cloud. `now`: a monotonic clock in milliseconds. */
  constructor(ask: (token: string) => Promise<WorkflowPrincipal | undefined>, now: () => number) {
    this.#ask = ask
    this.#now = now
  }

  async find(token: string): Promise<WorkflowPrincipal | undefined> {
    const hash = createHash('sha256').update(token).digest('base64')
    const known = this.#known.get(hash)
    if (known && known.until > this.#now()) return known.principal
    this.#known.delete(hash)
    const until = this.#now() + REMEMBER_MS
    const principal = await this.#ask(token)
    if (!principal) return undefined
    const [oldest] = this.#known.size >= MOST ? this.#known.keys() : []
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(hash, { principal, until })
    return principal
  }
}
