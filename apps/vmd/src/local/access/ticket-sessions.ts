import { createHash } from 'node:crypto'

import { cookieIn } from '@skerry/service'

import { Tickets, type Ticket } from './tickets.ts'

/** A working day. A restart of vmd ends all sessions. */
const GOOD_MS = 12 * 60 * 60_000
/** More would indicate a faulty client: a person has a few browsers. */
const MOST = 100
const COOKIE = 'skerry-ui'
/** The subject of the tickets. */
const UI = 'ui'

interface TicketSession {
  readonly until: number
  /** The user whose browser traded the ticket. */
  readonly uid: number
}

/**
 * Sessions of browsers, for a vmd that requires its token: a page never gets the token. A caller with the token gets a ticket, the page
 * trades it for a cookie. Browsers send cookies to every port of a machine, so the cookie counts for the user who traded the ticket
 * only. Only hashes are kept.
 */
export class TicketSessions {
  readonly #tickets: Tickets
  readonly #open = new Map<string, TicketSession>()
  readonly #secret: () => string
  readonly #now: () => number

  /** `now` is monotonic, in milliseconds. */
  constructor(secret: () => string, now: () => number = () => performance.now()) {
    this.#secret = secret
    this.#now = now
    this.#tickets = new Tickets(secret, now)
  }

  issueTicket(): Ticket {
    return this.#tickets.issue(UI)
  }

  /** The Set-Cookie header of a new session; undefined if the ticket is wrong, used or expired. */
  open(ticket: string, uid: number): string | undefined {
    if (!this.#tickets.redeem(UI, ticket)) return undefined
    const now = this.#now()
    for (const [hash, { until }] of this.#open) if (until <= now) this.#open.delete(hash)
    const [oldest] = this.#open.keys()
    if (this.#open.size >= MOST && oldest !== undefined) this.#open.delete(oldest)
    const value = this.#secret()
    this.#open.set(hashOf(value), { until: now + GOOD_MS, uid })
    return setCookie(value, GOOD_MS / 1000)
  }

  /** Whether this Cookie header belongs to an open session of this user. */
  has(header: string | undefined, uid: number): boolean {
    const value = cookieIn(header, COOKIE)
    const session = value === undefined ? undefined : this.#open.get(hashOf(value))
    return session !== undefined && session.uid === uid && session.until > this.#now()
  }

  /** Ends the session of this Cookie header; returns the Set-Cookie header that removes the cookie. */
  end(header: string | undefined): string {
    this.#open.delete(hashOf(cookieIn(header, COOKIE) ?? ''))
    return setCookie('', 0)
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** Not Secure: the local API is plain HTTP on loopback. */
const setCookie = (value: string, seconds: number): string =>
  `${COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${seconds}`
