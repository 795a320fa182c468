import { createHash } from 'node:crypto'

/** As long as the cloud's tickets: enough to open a page. */
const GOOD_MS = 30_000
/** More would indicate a faulty client: a person opens one page at a time. */
const MOST = 1000

interface Issued {
  readonly subject: string
  readonly until: number
}

export interface Ticket {
  readonly text: string
  readonly goodForMs: number
}

/** Tickets replace the token for a page, which never gets the token. Each is valid once; only hashes are kept. */
export class Tickets {
  readonly #issued = new Map<string, Issued>()
  readonly #secret: () => string
  readonly #now: () => number

  /** `now` is monotonic, in milliseconds. */
  constructor(secret: () => string, now: () => number = () => performance.now()) {
    this.#secret = secret
    this.#now = now
  }

  /** For one subject, such as a VM. */
  issue(subject: string): Ticket {
    const now = this.#now()
    for (const [hash, { until }] of this.#issued) if (until <= now) this.#issued.delete(hash)
    // Drop the oldest: the newest caller is waiting for a page now.
    const [oldest] = this.#issued.keys()
    if (this.#issued.size >= MOST && oldest !== undefined) this.#issued.delete(oldest)
    const text = this.#secret()
    this.#issued.set(hashOf(text), { subject, until: now + GOOD_MS })
    return { text, goodForMs: GOOD_MS }
  }

  /** Whether it was issued for this subject. The ticket is used up in any case. */
  redeem(subject: string, text: string): boolean {
    const hash = hashOf(text)
    const issued = this.#issued.get(hash)
    this.#issued.delete(hash)
    return issued !== undefined && issued.subject === subject && issued.until > this.#now()
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
