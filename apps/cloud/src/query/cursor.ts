import { Fault } from '@skerry/fault'

import type { EventCursors } from '../feeds/event-cursors.ts'

/** The end of a page: the value that it is sorted by, if any, and the key of its last record, as text. */
export type PageCursor = readonly string[]

const LENGTH_MAX = 2048

/** For links only: clients return it unchanged. `events`: for a list of events, whose numbers are hidden from clients. */
export function writeCursor(cursor: PageCursor, events?: EventCursors): string {
  const position = events ? withEventCursor(cursor, events) : cursor
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}

/** The key of an event is its transaction and its sequence number, after the sort value. */
function withEventCursor(cursor: PageCursor, events: EventCursors): PageCursor {
  const [tx = '0', seq = '0'] = cursor.slice(-2)
  return [...cursor.slice(0, -2), events.write({ tx, seq })]
}

function withEventKey(cursor: PageCursor, events: EventCursors): PageCursor {
  const { tx, seq } = events.read(cursor.at(-1) ?? '')
  return [...cursor.slice(0, -1), tx, seq]
}

/** `parts`: the required number of values. The database checks whether each fits its column. */
export function readCursor(written: string, parts: number, events?: EventCursors): PageCursor {
  const cursor = written.length > LENGTH_MAX ? undefined : parsed(written)
  const fits =
    Array.isArray(cursor) &&
    cursor.length === parts - (events ? 1 : 0) &&
    cursor.every((each) => typeof each === 'string' && !each.includes('\0'))
  if (fits) return events ? withEventKey(cursor as PageCursor, events) : (cursor as PageCursor)
  throw wrongCursor()
}

export const wrongCursor = (cause?: unknown): Fault =>
  new Fault('invalid', 'after must be copied unchanged from a nextPage link of the same query', {
    hint: 'omit it, and start at page 1',
    cause,
  })

function parsed(written: string): unknown {
  try {
    return JSON.parse(Buffer.from(written, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}
