import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { eventStream, streamHeaders, type Message } from '@skerry/service'

import { route, type Local } from '../route.ts'
import { eventBody } from '../words-of-operations.ts'

const STREAMS_MAX = 200
const NUMBER = /^[0-9]{1,15}$/

export const events = [
  route({
    name: 'watchEvents',
    method: 'GET',
    path: '/api/events',
    permission: 'local',
    query: Type.Object({ since: Type.Optional(Type.String()) }),
    answers: { 200: 'text/event-stream' },
    doc: 'Events of VMs and operations, as a stream. With Last-Event-ID or since=ID all events after that id come first, without gaps or duplicates; 409 with the oldest id if some of them are no longer kept.',
    async handle({ journal, meter }, { query, lastEventId }) {
      const since = readCursor(lastEventId ?? query.since) ?? journal.last
      journal.requireCursor(since)
      if (meter.streams >= STREAMS_MAX)
        throw new Fault('too-many', `${STREAMS_MAX} event streams are already open`)
      const open = meter.openStream()
      const body = eventStream((signal) => messages(journal, since, signal), { since })
      body.once('close', () => open[Symbol.dispose]())
      return { status: 200, headers: streamHeaders, body }
    },
  }),
]

async function* messages(
  journal: Local['journal'],
  since: number,
  signal: AbortSignal,
): AsyncGenerator<Message, void> {
  for await (const event of journal.follow(since, signal))
    yield { id: event.id, event: event.type, data: eventBody(event) }
}

function readCursor(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  if (NUMBER.test(text)) return Number(text)
  throw new Fault('invalid', 'Last-Event-ID and since must be an event id, a whole number')
}
