// Makes messages of events. Pure: the sender reads the events and sends the message.
import { fill } from '@skerry/service'

import type { EventCursor, EventRow } from '../database/events.ts'
import { at as addresses } from '../dialect/addresses.ts'
import type { EventCursors } from '../feeds/event-cursors.ts'

/** Below what the egress accepts. */
const BODY_BYTES = 200 * 1024
export const BATCH_EVENTS = 100
export const BATCH_TYPE = 'application/cloudevents-batch+json'

/** An event as CloudEvents 1.0 writes it. */
export interface CloudEvent {
  readonly specversion: '1.0'
  readonly id: string
  readonly source: string
  readonly type: string
  readonly subject?: string
  readonly time: string
  readonly datacontenttype: 'application/json'
  readonly data: Readonly<Record<string, unknown>>
}

export interface EventWriter {
  readonly base: URL
  /** Event ids as the organisation of the webhook sees them. */
  readonly cursors: EventCursors
}

export interface Batch {
  /** The events that the message contains. */
  readonly events: readonly CloudEvent[]
  readonly body: string
  readonly first: EventCursor
  /** The cursor after it: events that are left out by their kind are before it, too. */
  readonly last: EventRow | EventCursor
}

/** Events that are not kept any more, or that a restore of the database has undone. */
export interface Skipped {
  readonly after: EventCursor
  readonly since: Date
  readonly why: 'not kept' | 'restored'
}

/** 'vm.' wants all kinds that begin with it, 'task.error' one kind; without any, all are wanted. */
export const isWanted = (kind: string, wanted: readonly string[]): boolean =>
  wanted.length === 0 ||
  wanted.some((each) => (each.endsWith('.') ? kind.startsWith(each) : kind === each))

/** The next message of these events, which follow the cursor without a gap. It has no more than fit into one message. */
export function makeBatch(
  after: EventCursor,
  rows: readonly EventRow[],
  { kinds, skipped }: { readonly kinds: readonly string[]; readonly skipped?: Skipped },
  writer: EventWriter,
): Batch {
  const events: CloudEvent[] = skipped ? [skippedEvent(skipped, writer)] : []
  let bytes = JSON.stringify(events).length
  let last: Batch['last'] = after
  for (const row of rows) {
    if (isWanted(row.kind, kinds)) {
      const event = fitting(cloudEvent(row, writer))
      bytes += Buffer.byteLength(JSON.stringify(event)) + 1
      if (bytes > BODY_BYTES && events.length > 0) break
      events.push(event)
    }
    last = row
  }
  return { events, body: JSON.stringify(events), first: rows[0] ?? after, last }
}

export function cloudEvent(row: EventRow, { base, cursors }: EventWriter): CloudEvent {
  const { at, org, kind, vapp, vm, task, host, details } = row
  const path = org === null ? '/api' : fill(addresses.org, { org })
  const subject =
    vm === null ? (vapp === null ? host && `host-${host}` : `vapp-${vapp}`) : `vm-${vm}`
  return {
    specversion: '1.0',
    id: cursors.write(row),
    source: new URL(path, base).href,
    type: `skerry.${kind}`,
    ...(subject !== null && { subject }),
    time: at.toISOString(),
    datacontenttype: 'application/json',
    data: { vapp, vm, task, host, ...details },
  }
}

/** An event that alone is larger than a message would stop the webhook for ever. */
const fitting = (event: CloudEvent): CloudEvent =>
  Buffer.byteLength(JSON.stringify(event)) < BODY_BYTES
    ? event
    : { ...event, data: { tooLarge: true } }

function skippedEvent({ after, since, why }: Skipped, { base, cursors }: EventWriter): CloudEvent {
  const id = cursors.write(after)
  return {
    specversion: '1.0',
    id: `skipped-${id}`,
    source: new URL('/api', base).href,
    type: 'skerry.events.skipped',
    time: since.toISOString(),
    datacontenttype: 'application/json',
    data: { after: id, since: since.toISOString(), why },
  }
}

/** A message that only says that it arrives. */
export function testMessage(
  { org, name }: { readonly org: string; readonly name: string },
  id: string,
  sentAt: Date,
  base: URL,
): string {
  const event: CloudEvent = {
    specversion: '1.0',
    id,
    source: new URL(fill(addresses.org, { org }), base).href,
    type: 'skerry.webhook.test',
    time: sentAt.toISOString(),
    datacontenttype: 'application/json',
    data: { name },
  }
  return JSON.stringify([event])
}
