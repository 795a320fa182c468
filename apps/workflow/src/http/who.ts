import { createHmac } from 'node:crypto'

import { Fault } from '@skerry/fault'

import type { Who } from '../identity/rights.ts'
import { readBasic, type Credentials } from './basic.ts'

/** Who sends these credentials; undefined: nobody whom the cloud knows. */
export interface WhoIs {
  verify(authorization: string | undefined, address: string): Promise<Who | undefined>
}

/** What the cloud is asked. */
export interface Accounts {
  /** Undefined: no such user, another password, or disabled. */
  check(credentials: Credentials, address: string): Promise<Who | undefined>
  /** Another one whenever an account, a role or an organisation has changed. */
  stamp(): Promise<string>
}

export interface RememberOptions {
  /** Made at the start, and known to nobody else: what is remembered is worth nothing elsewhere. */
  readonly key: Buffer
  /** Milliseconds, which never go back. */
  readonly now: () => number
  readonly rememberMs?: number
  readonly lookMs?: number
  readonly silenceMs?: number
}

interface Remembered {
  readonly who: Who
  readonly until: number
}

const REMEMBER_MS = 60_000
const LOOK_MS = 500
const SILENCE_MS = 1_000
/** So many at most; the oldest is asked for anew. */
const MOST = 10_000
/** Each costs a cell a quarter of a second of its processor. Who is remembered does not wait in this line. */
const ASKED_MOST = 64

/**
 * Asks the cloud, and remembers who was let in as a keyed hash for a while. While anything is remembered, the cloud's stamp is looked
 * at twice a second: another one, or none for a second, and all is forgotten.
 */
export class RememberedWho implements WhoIs, Disposable {
  readonly #accounts: Accounts
  readonly #options: Required<RememberOptions>
  readonly #known = new Map<string, Remembered>()
  /** Many requests of one client at once cost one question. */
  readonly #asking = new Map<string, Promise<Who | undefined>>()
  #stamp: string | undefined
  #stampAt = 0
  /** Counts how often all was forgotten: an answer to a question from before is not remembered. */
  #age = 0
  #looking = false
  #timer: NodeJS.Timeout | undefined

  constructor(accounts: Accounts, options: RememberOptions) {
    this.#accounts = accounts
    this.#options = {
      ...{ rememberMs: REMEMBER_MS, lookMs: LOOK_MS, silenceMs: SILENCE_MS },
      ...options,
    }
  }

  async verify(authorization: string | undefined, address: string): Promise<Who | undefined> {
    const credentials = readBasic(authorization)
    if (!credentials) return undefined
    const { key, now } = this.#options
    const hash = createHmac('sha256', key)
      .update(JSON.stringify([credentials.user, credentials.org, credentials.password]))
      .digest('base64')
    const known = this.#known.get(hash)
    if (known && known.until > now() && this.#isFresh()) return known.who
    const asked = this.#asking.get(hash)
    if (asked) return asked
    if (this.#asking.size >= ASKED_MOST) {
      throw new Fault('too-many', 'too many names and passwords are being checked at this moment', {
        hint: 'ask again in some seconds',
      })
    }
    const asking = this.#ask(hash, credentials, address).finally(() => this.#asking.delete(hash))
    this.#asking.set(hash, asking)
    return asking
  }

  /** The stamp was seen before the question was put: whatever changes after the answer shows in the next one. */
  async #ask(hash: string, credentials: Credentials, address: string): Promise<Who | undefined> {
    await this.#look().catch(() => undefined)
    const age = this.#age
    const who = await this.#accounts.check(credentials, address)
    if (!who || age !== this.#age || !this.#isFresh()) return who
    const { now, rememberMs } = this.#options
    const [oldest] = this.#known.size >= MOST ? this.#known.keys() : []
    if (oldest !== undefined) this.#known.delete(oldest)
    this.#known.set(hash, { who, until: now() + rememberMs })
    this.#watch()
    return who
  }

  #isFresh(): boolean {
    const { now, silenceMs } = this.#options
    return this.#stamp !== undefined && now() - this.#stampAt <= silenceMs
  }

  async #look(): Promise<void> {
    const { now } = this.#options
    const sent = now()
    const stamp = await this.#accounts.stamp()
    if (this.#stamp !== undefined && stamp !== this.#stamp) this.#forget()
    this.#stamp = stamp
    // It is at least as old as the question.
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
          for (const [hash, { until }] of this.#known) {
            if (until <= now()) this.#known.delete(hash)
          }
          if (this.#known.size > 0) this.#watch()
          else this.#stamp = undefined
        })
    }, lookMs).unref()
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer)
    this.#forget()
  }
}
