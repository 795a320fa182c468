import { createHmac } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { readBasic, type BasicCredentials } from '@skerry/service'

import type { WorkflowPrincipal } from '../identity/rights.ts'

/** Authenticates credentials; undefined: rejected by the cloud. */
export interface Authenticator {
  /** `use`: the purpose. While no cell is reachable, a recently authenticated user can still read. */
  verify(
    authorization: string | undefined,
    address: string,
    use?: 'read' | 'change',
  ): Promise<WorkflowPrincipal | undefined>
}

/** The account queries to the cloud. */
export interface AccountQueries {
  /** Undefined: unknown user, wrong password, or disabled. */
  check(credentials: BasicCredentials, address: string): Promise<WorkflowPrincipal | undefined>
  /** A value that changes whenever an account, a role or an organisation changes. */
  stamp(): Promise<string>
}

export interface RememberOptions {
  /** Generated at startup and never shared: the cached hashes are useless elsewhere. */
  readonly key: Buffer
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
  readonly rememberMs?: number
  readonly lookMs?: number
  readonly silenceMs?: number
  /** How long a user can still read after the last contact with the cloud. */
  readonly awayMs?: number
  /** The organisation of names without @organisation. */
  readonly organisation?: string
}

interface CachedPrincipal {
  readonly principal: WorkflowPrincipal
  readonly until: number
}

const REMEMBER_MS = 60_000
const LOOK_MS = 500
const SILENCE_MS = 1_000
const AWAY_MS = 15 * 60_000
/** The maximum number of cached entries; the oldest is dropped first. */
const MOST = 10_000
/** The maximum number of concurrent checks: each costs a cell a quarter of a second of CPU. Cached users do not wait. */
const CHECKS_AT_ONCE = 64

/**
 * Asks the cloud and caches accepted credentials as a keyed hash. While anything is cached, it polls the cloud's stamp twice a
 * second; if the stamp changes, or is not available for a second, it drops the whole cache.
 */
export class CachingAuthenticator implements Authenticator, Disposable {
  readonly #accounts: AccountQueries
  readonly #options: Required<Omit<RememberOptions, 'organisation'>> &
    Pick<RememberOptions, 'organisation'>
  readonly #known = new Map<string, CachedPrincipal>()
  /** Accepted users, for reading while the cloud is unreachable. Dropped after a time, or at any change. */
  readonly #lately = new Map<string, CachedPrincipal>()
  /** Concurrent requests of one client share one check. */
  readonly #asking = new Map<string, Promise<WorkflowPrincipal | undefined>>()
  #stamp: string | undefined
  #stampAt = 0
  /** Counts cache drops: the result of a check from before a drop is not cached. */
  #age = 0
  #looking = false
  #timer: NodeJS.Timeout | undefined

  constructor(accounts: AccountQueries, options: RememberOptions) {
    this.#accounts = accounts
    this.#options = {
      rememberMs: REMEMBER_MS,
      lookMs: LOOK_MS,
      silenceMs: SILENCE_MS,
      awayMs: AWAY_MS,
      ...options,
    }
  }

  async verify(
    authorization: string | undefined,
    address: string,
    use: 'read' | 'change' = 'change',
  ): Promise<WorkflowPrincipal | undefined> {
    const { key, now, organisation } = this.#options
    const credentials = readBasic(authorization, organisation)
    if (!credentials) return undefined
    const hash = createHmac('sha256', key)
      .update(JSON.stringify([credentials.user, credentials.org, credentials.password]))
      .digest('base64')
    const known = this.#known.get(hash)
    if (known && known.until > now() && this.#isFresh()) {
      this.#keepLately(hash, known.principal)
      return known.principal
    }
    try {
      return await this.#askOnce(hash, credentials, address)
    } catch (error) {
      const lately = use === 'read' && isAway(error) ? this.#lately.get(hash) : undefined
      if (!lately || lately.until <= now()) throw error
      return lately.principal
    }
  }

  #askOnce(
    hash: string,
    credentials: BasicCredentials,
    address: string,
  ): Promise<WorkflowPrincipal | undefined> {
    const requested = this.#asking.get(hash)
    if (requested) return requested
    if (this.#asking.size >= CHECKS_AT_ONCE) {
      throw new Fault('too-many', 'too many password checks in progress', {
        hint: 'try again in a few seconds',
      })
    }
    const asking = this.#ask(hash, credentials, address).finally(() => this.#asking.delete(hash))
    this.#asking.set(hash, asking)
    return asking
  }

  /** Reads the stamp before the check, so that any later change shows in the next stamp. */
  async #ask(
    hash: string,
    credentials: BasicCredentials,
    address: string,
  ): Promise<WorkflowPrincipal | undefined> {
    await this.#look().catch(() => undefined)
    const age = this.#age
    const principal = await this.#accounts.check(credentials, address)
    if (!principal) this.#lately.delete(hash)
    if (!principal || age !== this.#age || !this.#isFresh()) return principal
    const { now, rememberMs } = this.#options
    addNewest(this.#known, hash, { principal, until: now() + rememberMs })
    this.#keepLately(hash, principal)
    this.#watch()
    return principal
  }

  #keepLately(hash: string, principal: WorkflowPrincipal): void {
    addNewest(this.#lately, hash, { principal, until: this.#options.now() + this.#options.awayMs })
  }

  #isFresh(): boolean {
    const { now, silenceMs } = this.#options
    return this.#stamp !== undefined && now() - this.#stampAt <= silenceMs
  }

  async #look(): Promise<void> {
    const { now } = this.#options
    const sent = now()
    const stamp = await this.#accounts.stamp()
    if (this.#stamp !== undefined && stamp !== this.#stamp) {
      this.#forget()
      this.#lately.clear()
    }
    this.#stamp = stamp
    // The stamp is at least as old as the request.
    this.#stampAt = Math.max(this.#stampAt, sent)
  }

  #forget(): void {
    this.#known.clear()
    this.#age += 1
  }

  #watch(): void {
    if (this.#timer || this.#looking) return
    const { lookMs, now } = this.#options
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#looking = true
      void this.#look()
        .catch(() => undefined)
        .finally(() => {
          this.#looking = false
          if (!this.#isFresh()) this.#forget()
          for (const all of [this.#known, this.#lately]) {
            for (const [hash, { until }] of all) if (until <= now()) all.delete(hash)
          }
          // Keep polling for users who may read while the cloud is unreachable, so that no earlier change is missed.
          if (this.#known.size + this.#lately.size > 0) this.#watch()
          else this.#stamp = undefined
        })
    }, lookMs).unref()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#forget()
    this.#lately.clear()
  }
}

/** Adds it as the newest entry; drops the oldest if full. */
function addNewest(
  all: Map<string, CachedPrincipal>,
  hash: string,
  remembered: CachedPrincipal,
): void {
  all.delete(hash)
  const [oldest] = all.size >= MOST ? all.keys() : []
  if (oldest !== undefined) all.delete(oldest)
  all.set(hash, remembered)
}

const isAway = (error: unknown): boolean => error instanceof Fault && error.kind === 'unavailable'
