import { Fault } from '@skerry/fault'
import { Type } from '@skerry/schema'
import { json } from '@skerry/service'

import { route } from '../route.ts'

const PageAddress = Type.Object({
  page: Type.String(),
  expires: Type.Optional(Type.String({ format: 'date-time' })),
})

const NewSession = Type.Object({ ticket: Type.String({ maxLength: 256 }) })

export const webUi = [
  route({
    name: 'openWebUi',
    method: 'POST',
    path: '/api/ui/ticket',
    permission: 'local',
    changes: [],
    answers: { 201: PageAddress },
    doc: 'Returns the path of the web UI. With --token-file it contains a ticket, valid once and for 30 s.',
    async handle({ host, isLocked, webUi: { sessions } }, { carriesTokenItself }) {
      // Else a session could be renewed without end.
      if (!carriesTokenItself) {
        throw new Fault('forbidden', 'a ticket needs the token, not the session of a browser', {
          hint: 'run skerry ui',
        })
      }
      const headers = { 'cache-control': 'no-store' }
      if (!isLocked) return { status: 201, headers, body: { page: '/ui/' } }
      const { text, goodForMs } = sessions.issueTicket()
      const expires = new Date(host.clock.now().getTime() + goodForMs).toISOString()
      // After '#': browsers send it to no server.
      return { status: 201, headers, body: { page: `/ui/#ticket=${text}`, expires } }
    },
  }),
  route({
    name: 'startUiSession',
    method: 'POST',
    path: '/api/ui/session',
    permission: 'local',
    changes: [],
    takes: json(NewSession),
    answers: { 204: 'nothing' },
    doc: 'Trades a ticket of the web UI for a cookie, which replaces the token in requests of the page. The request needs no token.',
    async handle({ webUi: { sessions } }, { body: { ticket }, uid }) {
      const cookie = sessions.open(ticket, uid)
      if (cookie === undefined) {
        throw new Fault('forbidden', 'the ticket is wrong, used or expired', {
          hint: 'get a new one: skerry ui',
        })
      }
      return { status: 204, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' } }
    },
  }),
  route({
    name: 'endUiSession',
    method: 'DELETE',
    path: '/api/ui/session',
    permission: 'local',
    changes: [],
    answers: { 204: 'nothing' },
    doc: 'Ends the session of the web UI that sends this request.',
    async handle({ webUi: { sessions } }, { cookie }) {
      return { status: 204, headers: { 'set-cookie': sessions.end(cookie) } }
    },
  }),
]
