import { setImmediate as yieldTurn, setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type { Kysely } from 'kysely'

import { isSamePrincipal, readPrincipals } from '../auth/session-alive.ts'
import { endOfEvents, readEvents, type EventCursor, type EventRow } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { Feed, scopeOf, type EventScope, type FeedOptions } from './feed.ts'
import { TaskProgress } from './task-progress.ts'

/** Feeds that can be open at one cell at the same time. */
export const feedBounds = { ofUser: 20, ofOrg: 200 } as const

const LOOK_AGAIN_MS = 300
const PAGE = 1000
const PAGES_MOST = 10
/** Readers that are woken before other requests get a turn. */
const AT_ONCE = 10
/** After this long without a response from the database it is unknown whether a reader may still read. */
const UNSURE_MS = 5000
const RETRY_SECONDS = 120

export interface FeedsOptions {
  readonly db: Kysely<CloudTables>
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number
  readonly log: (message: string, cause?: unknown) => void
}

/**
 * All open feeds of a cell. One loop reads new events of all organisations and the progress of tasks, each by one query however many
 * feeds there are, and hands every feed those of its scope. It also checks the readers: the feed of a reader whose token, account,
 * role or organisation has changed is ended. Nothing is read while no feed is open.
 */
export class Feeds implements AsyncDisposable {
  readonly #options: FeedsOptions
  readonly #open = new Set<Feed>()
  readonly #reads = new Map<string, Promise<readonly EventRow[]>>()
  readonly #stopping = new AbortController()
  #progress = new TaskProgress()
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

  open(options: FeedOptions): Feed {
    this.requireRoom(options.principal)
    const feed: Feed = new Feed(options, () => this.#open.delete(feed))
    this.#open.add(feed)
    this.#running ??= this.#run()
    return feed
  }

  /** Readers that catch up from the same position share one query until there is something new. */
  async catchUp(
    { principal }: Feed,
    { tx, seq }: EventCursor,
    read: () => Promise<readonly EventRow[]>,
  ): Promise<readonly EventRow[]> {
    const key = `${scopeOf(principal)} ${tx}-${seq}`
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
    this.#progress = new TaskProgress()
    this.#running = undefined
  }

  async #look(): Promise<void> {
    const { db, now } = this.#options
    const feeds = [...this.#open]
    const principals = await readPrincipals(
      db,
      feeds.map(({ token }) => token),
    )
    for (const feed of feeds) {
      if (!isSamePrincipal(feed.principal, principals.get(feed.token))) feed.end()
    }
    await this.#readEvents()
    const reading = [...this.#open].filter(({ isWithProgress }) => isWithProgress)
    for (const feed of reading) feed.expectProgress()
    const scopes = new Set(reading.map(({ principal }) => scopeOf(principal)))
    const changed = await this.#progress.changed(db, scopes, now())
    if (changed.length === 0) return
    const byScope = Map.groupBy(changed, ({ org }): EventScope => org).set('all', [...changed])
    await eachWithTurns(reading, (feed) => {
      for (const { task, message } of byScope.get(scopeOf(feed.principal)) ?? []) {
        feed.addProgress(task, message)
      }
    })
  }

  /** Reads what is new since the last time, and hands it out. */
  async #readEvents(): Promise<void> {
    const { db } = this.#options
    if (!this.#cursor) {
      this.#cursor = await endOfEvents(db)
      // What was read before this position was known may end before it.
      this.#reads.clear()
      for (const feed of this.#open) feed.fallBehind()
      return
    }
    let rows: readonly EventRow[] = []
    // Not without end: the rights of readers are checked in between.
    for (let page = 0; page === 0 || (rows.length === PAGE && page < PAGES_MOST); page += 1) {
      rows = await readEvents(db, this.#cursor, PAGE)
      // In one turn with the new position: a feed that catches up from now on reads at least these rows.
      this.#reads.clear()
      this.#cursor = rows.at(-1) ?? this.#cursor
      await this.#handOut(rows)
    }
  }

  async #handOut(rows: readonly EventRow[]): Promise<void> {
    if (rows.length === 0) return
    const byScope = Map.groupBy(rows, ({ org }): EventScope => org ?? 'all').set('all', [...rows])
    const due = [...this.#open].filter(({ principal }) => byScope.has(scopeOf(principal)))
    await eachWithTurns(due, (feed) => feed.add(byScope.get(scopeOf(feed.principal)) ?? []))
  }
}

/** Other requests get a turn in between. */
async function eachWithTurns(feeds: readonly Feed[], act: (feed: Feed) => void): Promise<void> {
  for (const [at, feed] of feeds.entries()) {
    act(feed)
    if (at % AT_ONCE === AT_ONCE - 1) await yieldTurn()
  }
}

const tooMany = (what: string): Fault =>
  new Fault('too-many', what, {
    hint: 'close one, or read all events from one feed',
    detail: String(RETRY_SECONDS),
  })
