import { setImmediate as yieldTurn, setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { isSamePrincipal, readPrincipals } from '../auth/session-alive.ts'
import { endOfEvents, type EventCursor, type EventRow } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { SYSTEM_ROLE } from '../domain/roles.ts'

/** Feeds that can be open at one cell at the same time. */
export const feedBounds = { ofUser: 20, ofOrg: 200 } as const

const LOOK_AGAIN_MS = 300
const PAGE = 1000
/** Readers that are woken before other requests get a turn. */
const AT_ONCE = 10
/** After this long without a response from the database it is unknown whether a reader may still read. */
const UNSURE_MS = 5000
const RETRY_SECONDS = 120

/** Whose events a reader sees. */
type EventScope = OrgId | 'all'

export const reachOf = ({ role, org }: Pick<Principal, 'role' | 'org'>): EventScope =>
  role === SYSTEM_ROLE ? 'all' : org

/** One open response that streams events. */
export class Feed {
  readonly principal: Principal
  readonly token: string
  readonly #close: () => void
  #isOver = false
  /** There may be something to read, as at the start. */
  #isDue = true
  #wake: (() => void) | undefined

  constructor(principal: Principal, token: string, close: () => void) {
    this.principal = principal
    this.token = token
    this.#close = close
  }

  /** Whether it has ended, or its reader has lost access. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when there may be something to read, or when the feed has ended. */
  async due(): Promise<void> {
    if (!this.#isDue && !this.#isOver) await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#isDue = false
  }

  poke(): void {
    this.#isDue = true
    this.#wake?.()
  }

  end(): void {
    this.#isOver = true
    this.#close()
    this.#wake?.()
  }
}

export interface FeedsOptions {
  readonly db: Kysely<CloudTables>
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly log: (message: string, cause?: unknown) => void
}

/**
 * All open feeds of a cell. One loop polls for new events of all organisations, and checks the readers: the feed of a reader whose
 * token, account, role or organisation has changed is ended. Nothing is polled while no feed is open.
 */
export class Feeds implements AsyncDisposable {
  readonly #options: FeedsOptions
  readonly #open = new Set<Feed>()
  readonly #reads = new Map<string, Promise<readonly EventRow[]>>()
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined
  #cursor: EventCursor | undefined

  constructor(options: FeedsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#open.size
  }

  /** Throws `too-many` if the user or the organisation has reached its limit. */
  requireRoom({ account, org }: Principal): void {
    let [ofUser, ofOrg] = [0, 0]
    for (const { principal } of this.#open) {
      if (principal.org !== org) continue
      ofOrg += 1
      if (principal.account === account) ofUser += 1
    }
    const { ofUser: userMost, ofOrg: orgMost } = feedBounds
    if (ofUser >= userMost)
      throw tooMany(`this user already has ${userMost} event feeds open at this cell`)
    if (ofOrg >= orgMost)
      throw tooMany(`this organisation already has ${orgMost} event feeds open at this cell`)
  }

  open(principal: Principal, token: string): Feed {
    this.requireRoom(principal)
    const feed: Feed = new Feed(principal, token, () => this.#open.delete(feed))
    this.#open.add(feed)
    this.#running ??= this.#run()
    return feed
  }

  /** Readers at the same position share one query until there is something new. */
  async read(
    { principal }: Feed,
    { tx, seq }: EventCursor,
    read: () => Promise<readonly EventRow[]>,
  ): Promise<readonly EventRow[]> {
    const key = `${reachOf(principal)} ${tx}-${seq}`
    const requested = this.#reads.get(key)
    if (requested) return requested
    const reading = read()
    this.#reads.set(key, reading)
    reading.catch(() => this.#reads.delete(key))
    return reading
  }

  /** Whether this reader may read now. */
  async isCurrent({ principal, token }: Feed): Promise<boolean> {
    const principals = await readPrincipals(this.#options.db, [token])
    return isSamePrincipal(principal, principals.get(token))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    for (const feed of this.#open) feed.end()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { now, log } = this.#options
    let sureAt = now()
    while (!signal.aborted && this.#open.size > 0) {
      try {
        await this.#look()
        sureAt = now()
      } catch (error) {
        if (now() - sureAt >= UNSURE_MS) {
          log('all event feeds are closed: the rights of their readers cannot be checked', error)
          for (const feed of this.#open) feed.end()
        }
      }
      await sleep(LOOK_AGAIN_MS, undefined, { signal }).catch(() => undefined)
    }
    this.#reads.clear()
    // Without an await in between: a feed that is opened from now on starts the loop again.
    this.#cursor = undefined
    this.#running = undefined
  }

  async #look(): Promise<void> {
    const feeds = [...this.#open]
    const principals = await readPrincipals(
      this.#options.db,
      feeds.map(({ token }) => token),
    )
    for (const feed of feeds) {
      if (!isSamePrincipal(feed.principal, principals.get(feed.token))) feed.end()
    }
    const changed = await this.#changed()
    this.#reads.clear()
    const due = [...this.#open].filter(
      ({ principal }) => changed === 'any' || changed.has(reachOf(principal)),
    )
    for (const [at, feed] of due.entries()) {
      feed.poke()
      if (at % AT_ONCE === AT_ONCE - 1) await yieldTurn()
    }
  }

  /** The organisations that have new events. */
  async #changed(): Promise<ReadonlySet<EventScope> | 'any'> {
    const { db } = this.#options
    if (!this.#cursor) {
      this.#cursor = await endOfEvents(db)
      return 'any'
    }
    const changed = new Set<EventScope>()
    for (;;) {
      const { tx, seq }: EventCursor = this.#cursor
      const { rows } = await sql<
        EventCursor & { readonly org: OrgId | null }
      >`select tx, seq, org from event
        where (tx, seq) > (${tx}::xid8, ${seq}::bigint) and tx < pg_snapshot_xmin(pg_current_snapshot())
        order by tx, seq limit ${PAGE}`.execute(db)
      for (const { org } of rows) changed.add(org ?? 'all').add('all')
      this.#cursor = rows.at(-1) ?? this.#cursor
      if (rows.length < PAGE) return changed
    }
  }
}

const tooMany = (what: string): Fault =>
  new Fault('too-many', what, {
    hint: 'close one, or read all events from one feed',
    detail: String(RETRY_SECONDS),
  })
