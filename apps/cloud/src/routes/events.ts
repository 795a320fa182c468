import { setTimeout as sleep } from 'node:timers/promises'

import { Type } from '@skerry/schema'
import { eventStream, streamHeaders, type Message } from '@skerry/service'

import type { RequestContext } from '../context.ts'
import {
  endOfEvents,
  endOfTransactions,
  isAfter,
  isReadableBelow,
  readEvents,
  requireReached,
  type EventCursor,
  type EventRow,
} from '../database/events.ts'
import { at } from '../dialect/addresses.ts'
import type { EventCursors } from '../feeds/event-cursors.ts'
import type { Feed } from '../feeds/feed.ts'
import { route } from '../http/route.ts'

const PAGE = 500
/** Events that are sent in one chunk. */
const AT_ONCE = 50
/** Pauses between questions whether older transactions have ended, and for how long it is asked. Nearly always they have the first time. */
const pauses = { firstMs: 100, mostMs: 2000, allMs: 600_000 } as const

export const events = [
  route({
    name: 'followEvents',
    method: 'GET',
    path: at.events,
    permission: 'vm:read',
    query: Type.Object({
      after: Type.Optional(Type.String()),
      progress: Type.Optional(Type.String({ pattern: '^(true|false)$' })),
      until: Type.Optional(Type.Literal('now')),
    }),
    answers: { 200: 'events' },
    doc: 'Streams events as they happen (server-sent events). Last-Event-ID or ?after=ID continues after that event; ?after=0-0 starts with the first. ?progress=true adds messages named progress, without an id: the progress of each running task when it has changed, at most once a second; they are not stored. ?until=now sends what has happened so far, then a message named end, and closes the stream. It ends with the session, and when the role of its user changes. At most 20 streams of a user and 200 of an organisation can be open at a cell; further ones get 429.',
    async handle(context, { principal, token, query, lastEventId }) {
      context.feeds.requireRoom(principal)
      const cursors = context.eventCursors(principal.org)
      const since = lastEventId ?? query.after
      const cursor =
        since === undefined ? await context.as(principal, endOfEvents) : cursors.read(since)
      await context.as(principal, (tx) => requireReached(tx, cursor))
      const isWithProgress = query.progress === 'true'
      const end = query.until === 'now' ? await context.as(principal, endOfTransactions) : undefined
      const feed = context.feeds.open({ principal, token, isWithProgress })
      const source = (signal: AbortSignal) =>
        follow(context, { feed, cursors, cursor, signal, end })
      const body = eventStream(source, { since: cursors.write(cursor) })
      return { status: 200, headers: streamHeaders, body }
    },
  }),
]

interface FeedSession {
  readonly feed: Feed
  readonly cursors: EventCursors
  readonly cursor: EventCursor
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
  /** It ends with the events below this transaction: what has happened so far. */
  readonly end: string | undefined
}

/** The last message of a stream that ends with what has happened so far: a lost connection has none. */
const END: Message = { event: 'end', data: {} }

async function* follow(
  context: RequestContext,
  { feed, cursors, cursor, signal, end }: FeedSession,
): AsyncIterable<readonly Message[]> {
  let last = cursor
  signal.addEventListener('abort', () => feed.end(), { once: true })
  try {
    if (signal.aborted || !(await context.feeds.isCurrent(feed))) return
    if (end !== undefined) await untilReadable(context, feed, end, signal)
    while (!feed.isOver) {
      await feed.due()
      if (feed.isOver) return
      const rows = feed.startCatchUp()
        ? await catchUp(context, feed, last, end !== undefined)
        : feed.takeRows()
      // What was caught up may have been handed out too.
      const fresh = eventsAfter(rows, last)
      feed.dropProgressOfEnded(fresh)
      for (let at = 0; at < fresh.length && !feed.isOver; at += AT_ONCE) {
        yield fresh.slice(at, at + AT_ONCE).map((row) => messageOf(row, cursors))
      }
      last = fresh.at(-1) ?? last
      if (end !== undefined && !feed.isOver && rows.length < PAGE) {
        yield [END]
        return
      }
      const progress = feed.isOver ? [] : feed.takeProgress()
      if (progress.length > 0) yield progress
    }
  } finally {
    feed.end()
  }
}

/** An older transaction that is still open holds back events that have happened. One that stays open ends the feed without them. */
async function untilReadable(
  context: RequestContext,
  feed: Feed,
  end: string,
  signal: AbortSignal,
): Promise<void> {
  const isReadable = () => context.as(feed.principal, (tx) => isReadableBelow(tx, end))
  let [pause, waited] = [pauses.firstMs as number, 0]
  while (!feed.isOver && !(await isReadable())) {
    if (waited >= pauses.allMs) return feed.end()
    await sleep(pause, undefined, { signal }).catch(() => undefined)
    waited += pause
    pause = Math.min(2 * pause, pauses.mostMs)
  }
}

const eventsAfter = (rows: readonly EventRow[], cursor: EventCursor): readonly EventRow[] =>
  rows.filter((row) => isAfter(row, cursor))

/**
 * A page of the events after this position, as PostgreSQL shows them to the reader. Readers may share one that is up to 300 ms old;
 * `isFresh`: not.
 */
async function catchUp(
  context: RequestContext,
  feed: Feed,
  after: EventCursor,
  isFresh: boolean,
): Promise<readonly EventRow[]> {
  const read = () => context.as(feed.principal, (tx) => readEvents(tx, after, PAGE))
  const rows = await (isFresh ? read() : context.feeds.catchUp(feed, after, read))
  if (rows.length === PAGE) feed.fallBehind()
  return rows
}

/** Caches the message of a row, which many readers of one organisation receive. */
const shown = new WeakMap<EventCursors, WeakMap<EventRow, Message>>()

function messageOf(row: EventRow, cursors: EventCursors): Message {
  const known = shown.get(cursors) ?? new WeakMap<EventRow, Message>()
  shown.set(cursors, known)
  const found = known.get(row) ?? message(row, cursors)
  known.set(row, found)
  return found
}

const message = (row: EventRow, cursors: EventCursors): Message => {
  const { at: when, kind, vapp, vm, task, host, details: what } = row
  return {
    id: cursors.write(row),
    event: kind,
    data: { at: when.toISOString(), vapp, vm, task, host, ...what },
  }
}
