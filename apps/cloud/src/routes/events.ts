import { setTimeout as sleep } from 'node:timers/promises'

import { Fault } from '@skerry/fault'
import { eventStream, streamHeaders, type Message } from '@skerry/service'
import { Type } from 'typebox'

import { at } from '../addresses.ts'
import { route } from '../route.ts'
import {
  endOfEvents,
  readEvents,
  requireReached,
  type Cursor,
  type EventRow,
} from '../store/events.ts'
import { isStillIn } from '../store/still-in.ts'

const LOOK_AGAIN_MS = 300
const PAGE = 500

const write = ({ tx, seq }: Cursor): string => `${tx}-${seq}`

function read(text: string): Cursor {
  const found = /^(\d{1,20})-(\d{1,19})$/.exec(text)
  if (found) return { tx: found[1] ?? '0', seq: found[2] ?? '0' }
  throw new Fault('invalid', 'the cursor must be the id of an event, such as 4711-12')
}

export const events = [
  route({
    name: 'followEvents',
    method: 'GET',
    path: at.events,
    permission: 'vm:read',
    query: Type.Object({ after: Type.Optional(Type.String()) }),
    answers: { 200: 'events' },
    doc: 'What happens, as it happens (server-sent events). Last-Event-ID or ?after=ID goes on after that event; ?after=0-0 begins at the first. It ends with the session.',
    async handle(world, { who, token, query, lastEventId }) {
      const since = lastEventId ?? query.after
      let cursor = since === undefined ? await world.as(who, endOfEvents) : read(since)
      await world.as(who, (tx) => requireReached(tx, cursor))
      async function* source(signal: AbortSignal): AsyncIterable<Message> {
        while (!signal.aborted) {
          const rows = await world.as(who, async (tx) =>
            (await isStillIn(tx, token)) ? readEvents(tx, cursor, PAGE) : undefined,
          )
          if (!rows) return
          for (const row of rows) {
            yield message(row)
            cursor = row
          }
          if (rows.length < PAGE) await sleep(LOOK_AGAIN_MS, undefined, { signal })
        }
      }
      const body = eventStream(source, { since: write(cursor) })
      return { status: 200, headers: streamHeaders, body }
    },
  }),
]

const message = ({ tx, seq, at: when, kind, vapp, vm, task, host, what }: EventRow): Message => ({
  id: write({ tx, seq }),
  event: kind,
  data: { at: when.toISOString(), vapp, vm, task, host, ...what },
})
