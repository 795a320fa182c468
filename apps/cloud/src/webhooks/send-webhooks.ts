import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import type { Seal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import {
  endOfEvents,
  isAfter,
  readEvents,
  type EventCursor,
  type EventRow,
} from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import type { CursorsOf } from '../feeds/event-cursors.ts'
import { BATCH_EVENTS, makeBatch, type Batch, type Skipped } from './batch.ts'
import { claimWebhook, expectAll, hasWebhooks, heldOrgs, release, rest } from './claims.ts'
import type { ClaimedWebhook } from './claims.ts'
import { decideDelivery, isTaken, type Outcome } from './decide-delivery.ts'
import type { PostMessage } from './egress.ts'
import { passOver, settle } from './settle.ts'
import { signedHeaders } from './signature.ts'
import { secretsOf, type WebhookRow } from './webhooks.ts'

const LOOK_MS = 250
/** After a failure of the database. */
const RETRY_MS = 5000
const PAGE = 1000
const PAGES_MOST = 10
/** Several messages of a webhook that is behind are read at once: PostgreSQL may sort all that it has missed to find the first ones. */
const READ_EVENTS = 5 * BATCH_EVENTS
/** Messages that a cell sends at the same time, and those of one organisation: one with slow receivers does not hold up others. */
export const sendBounds = { atOnce: 64, ofOrg: 3 } as const
/** After this long it is another webhook's turn. */
const TURN_MS = 10_000
/** What a webhook has missed is looked up if it did not reach the present for this long. */
const LONG_MS = 24 * 3_600_000

export interface SendOptions {
  readonly db: Kysely<CloudTables>
  readonly post: PostMessage
  readonly seal: Pick<Seal, 'open'>
  readonly cursors: CursorsOf
  readonly base: URL
  readonly log: (message: string, cause?: unknown) => void
  /** Counts a message. */
  readonly sent?: (result: 'taken' | 'refused' | 'unsent') => void
  /** Monotonic clock, in milliseconds. */
  readonly now: () => number
  /** From 0 to 1. */
  readonly random: () => number
}

/**
 * Sends the events of organisations to their webhooks. Every cell does; a claim decides which one sends for a webhook. A webhook is a
 * cursor over the events: it moves when the receiver has taken a message, so a cell that dies loses nothing and sends at most one
 * message twice.
 */
export class WebhookSender implements AsyncDisposable {
  readonly #options: SendOptions
  readonly #stopping = new AbortController()
  readonly #sending = new Map<Promise<void>, OrgId>()
  readonly #running: Promise<void>
  /** Events up to here are noticed; undefined: there was no webhook. */
  #noticed: EventCursor | undefined
  /** Organisations with events that may not have been sent. */
  #due: ReadonlySet<OrgId> = new Set()

  constructor(options: SendOptions) {
    this.#options = options
    this.#running = this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort()
    await this.#running
    await Promise.allSettled(this.#sending.keys())
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    const { log } = this.#options
    while (!signal.aborted) {
      const restMs = await this.#look().then(
        () => LOOK_MS,
        (error: unknown) => {
          log('webhooks cannot be sent', error)
          return RETRY_MS
        },
      )
      await sleep(restMs, undefined, { signal }).catch(() => undefined)
    }
  }

  async #look(): Promise<void> {
    const { db } = this.#options
    if (!(await hasWebhooks(db))) {
      this.#noticed = undefined
      return
    }
    await this.#notice()
    // Before the claims: a webhook that is free now is claimed below, by this cell or by one that reads at least the same events.
    const held = await heldOrgs(db, [...this.#due])
    for (;;) {
      // A webhook without a free place here stays due.
      if (this.#sending.size >= sendBounds.atOnce) return
      const claimed = await claimWebhook(db, { orgs: [...this.#due], busy: this.#busy() })
      if (!claimed) break
      this.#start(claimed)
    }
    this.#due = new Set([...held, ...this.#busy()])
  }

  #busy(): readonly OrgId[] {
    const counts = Map.groupBy(this.#sending.values(), (org) => org)
    return [...counts].flatMap(([org, all]) => (all.length >= sendBounds.ofOrg ? [org] : []))
  }

  /** Adds the organisations of new events. */
  async #notice(): Promise<void> {
    const { db } = this.#options
    if (!this.#noticed) {
      this.#noticed = await endOfEvents(db)
      await expectAll(db)
    }
    const due = new Set(this.#due)
    for (let page = 0; page < PAGES_MOST; page += 1) {
      const rows = await newEvents(db, this.#noticed)
      for (const { org } of rows) due.add(org)
      this.#noticed = rows.at(-1) ?? this.#noticed
      if (rows.length < PAGE) break
    }
    this.#due = due
  }

  #start(claimed: ClaimedWebhook): void {
    const { log } = this.#options
    const working = this.#work(claimed)
      .catch((error: unknown) => {
        const isStopping = this.#stopping.signal.aborted
        if (!isStopping) log('a webhook cannot be sent', error)
        const restMs = isStopping ? 0 : RETRY_MS
        return release(this.#options.db, claimed.webhook, restMs).catch(() => undefined)
      })
      .finally(() => this.#sending.delete(working))
    this.#sending.set(working, claimed.webhook.org)
  }

  /** Sends one message after the other, as long as the claim is valid and the receiver takes them. */
  async #work({ webhook, everywhere, wasBehind, isAhead, at }: ClaimedWebhook): Promise<void> {
    const { db, now, random, sent = () => undefined } = this.#options
    const began = now()
    const time = () => new Date(at.getTime() + now() - began)
    let missed = await skippedBy(db, webhook, { wasBehind, isAhead, at })
    let cursor: EventCursor = isAhead ? await endOfEvents(db) : webhook
    const { attempts, failing_since: since } = webhook
    let failures = { attempts, failingMs: since ? at.getTime() - since.getTime() : 0 }
    let rows: readonly EventRow[] = []
    for (;;) {
      const of = everywhere ? undefined : webhook.org
      if (rows.length === 0) rows = await readEvents(db, cursor, READ_EVENTS, of)
      if (rows.length === 0 && !missed) return void (await rest(db, webhook))
      const writer = { base: this.#options.base, cursors: this.#options.cursors(webhook.org) }
      const wanted = { kinds: webhook.kinds, ...(missed && { skipped: missed }) }
      const batch = makeBatch(cursor, rows.slice(0, BATCH_EVENTS), wanted, writer)
      if (batch.events.length === 0) {
        if (!(await passOver(db, webhook, batch.last))) return
      } else {
        const sentAt = now()
        const outcome = await this.#post(webhook, batch, time())
        const decision = decideDelivery(outcome, failures, random())
        sent(isTaken(outcome) ? 'taken' : outcome.is === 'unsent' ? 'unsent' : 'refused')
        const milliseconds = Math.round(now() - sentAt)
        const isOurs = await settle(db, webhook, { batch, outcome, decision, milliseconds })
        if (!isOurs || decision.next !== 'go on') return
        missed = undefined
        failures = NO_FAILURES
      }
      const next = { tx: batch.last.tx, seq: batch.last.seq }
      cursor = next
      rows = rows.filter((row) => isAfter(row, next))
      if (now() - began > TURN_MS) return release(db, webhook)
    }
  }

  async #post(webhook: WebhookRow, { last, body }: Batch, at: Date): Promise<Outcome> {
    const { post, seal, cursors } = this.#options
    const { org, id, round, url } = webhook
    // The same events are the same message, however often it is sent; sent again by order, they are a new one.
    const message = `${id}_${round}_${cursors(org).idOf(last)}`
    try {
      const secrets = secretsOf(webhook, at, (sealed, about) => seal.open(sealed, about))
      const headers = signedHeaders(secrets, message, at, body)
      return await post({ org, url, headers, body }, this.#stopping.signal)
    } catch (error) {
      // Its secret cannot be decrypted any more.
      if (error instanceof Fault) return { is: 'unanswered', why: error.message }
      throw error
    }
  }
}

const NO_FAILURES = { attempts: 0, failingMs: 0 }

/** Organisations and positions of new events, without their contents. Those without an organisation are of the cloud. */
async function newEvents(
  db: Kysely<CloudTables>,
  { tx, seq }: EventCursor,
): Promise<readonly (EventCursor & { readonly org: OrgId })[]> {
  const { rows } = await sql<EventCursor & { readonly org: OrgId }>`
    select tx, seq, coalesce(org, '00000000-0000-0000-0000-000000000000') as org from event
    where (event.tx, event.seq) > (${tx}::xid8, ${seq}::bigint)
      and event.tx < pg_snapshot_xmin(pg_current_snapshot())
    order by event.tx, event.seq limit ${PAGE}`.execute(db)
  return rows
}

/** What a webhook that was away for long has missed, because events are not kept for ever. */
async function skippedBy(
  db: Kysely<CloudTables>,
  { tx, seq, reached }: WebhookRow,
  { wasBehind, isAhead, at }: Pick<ClaimedWebhook, 'wasBehind' | 'isAhead' | 'at'>,
): Promise<Skipped | undefined> {
  const after = { tx, seq }
  if (isAhead) return { after, since: reached, why: 'restored' }
  if (!wasBehind || at.getTime() - reached.getTime() < LONG_MS) return undefined
  const { rows } = await sql<{ oldest: Date | null }>`
    select min(starts) as oldest from event_part`.execute(db)
  const oldest = rows[0]?.oldest
  return oldest && oldest > reached ? { after, since: reached, why: 'not kept' } : undefined
}
