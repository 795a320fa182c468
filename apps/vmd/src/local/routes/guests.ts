import { Type } from '@skerry/schema'
import { word } from '@skerry/service'

import { route } from '../route.ts'

const Stopped = Type.Object({
  stopped: Type.Array(Type.String()),
  left: Type.Array(Type.Object({ vm: Type.String(), reason: Type.String() })),
})

export const guests = [
  route({
    name: 'stopGuests',
    method: 'POST',
    path: '/api/guests/stop',
    permission: 'local',
    changes: [],
    takes: word(['suspend', 'shutdown']),
    answers: { 200: Stopped },
    doc: 'Suspends or shuts down every guest before the machine shuts down; those that were on are started when vmd starts again.',
    async handle({ stopGuests }, { body }) {
      return { status: 200, body: await stopGuests(body) }
    },
  }),
]
