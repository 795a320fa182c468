import { eventStream, streamHeaders, type Message } from '@skerry/service'
import { Type } from 'typebox'

import type { RequestContext } from '../context.ts'
import {
  endOfEvents,
  readEvents,
  requireReached,
  type EventCursor,
  type EventRow,
} from '../database/events.ts'
import { at } from '../dialect/addresses.ts'
import type { EventCursors } from '../feeds/event-cursors.ts'
import type { Feed } from '../feeds/feeds.ts'
import { route } from '../http/route.ts'

const PAGE = 500
/** Events that are sent in one chunk. */
const AT_ONCE = 50

export const events = [
  route({
    name: 'followEvents',
    method: 'GET',
    path: at.events,
    permission: 'vm:read',
    query: Type.Object({ after: Type.Optional(Type.String()) }),
    answers: { 200: 'events' },
    doc: 'Streams events as they happen (server-sent events). Last-Event-ID or ?after=ID continues after that event; ?after=0-0 starts with the first. The stream ends with the session, and when the role of its user changes. At most 20 streams of a user and 200 of an organisation can be open at a cell; further ones get 429.',
    async handle(context, { principal, token, query, lastEventId }) {
      context.feeds.requireRoom(principal)
      const cursors = context.eventCursors(principal.org)
      const since = lastEventId ?? query.after
      const cursor =
        since === undefined ? await context.as(principal, endOfEvents) : cursors.read(since)
      await context.as(principal, (tx) => requireReached(tx, cursor))
      const feed = context.feeds.open(principal, token)
      const source = (signal: AbortSignal) => follow(context, { feed, cursors, cursor, signal })
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
}

async function* follow(
  context: RequestContext,
  { feed, cursors, cursor, signal }: FeedSession,
): AsyncIterable<readonly Message[]> {
  const { principal } = feed
  const { feeds } = context
  let last = cursor
  signal.addEventListener('abort', () => feed.end(), { once: true })
  try {
    if (signal.aborted || !(await feeds.isCurrent(feed))) return
    while (!feed.isOver) {
      await feed.due()
      const after = last
      const rows = feed.isOver
        ? []
        : await feeds.read(feed, after, () =>
            context.as(principal, (tx) => readEvents(tx, after, PAGE)),
          )
      // The read may be shared with readers whose rights did not change, while this feed was ended.
      if (feed.isOver) return
      for (let at = 0; at < rows.length && !feed.isOver; at += AT_ONCE) {
        yield rows.slice(at, at + AT_ONCE).map((row) => messageOf(row, cursors))
      }
      last = rows.at(-1) ?? last
      if (rows.length === PAGE) feed.poke()
    }
  } finally {
    feed.end()
  }
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
