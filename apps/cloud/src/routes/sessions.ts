import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { supportedVersions } from '../documents/browse.ts'
import { session } from '../documents/session.ts'
import { Hrefs } from '../http/links.ts'
import { hashToken } from '../identity/sessions.ts'
import { route } from '../route.ts'
import { endSession } from '../store/logins.ts'

export const sessions = [
  route({
    name: 'listVersions',
    method: 'GET',
    path: at.versions,
    permission: 'anyone',
    answers: { 200: 'versions' },
    doc: 'The versions of this API, and where to log in.',
    async handle({ base }) {
      return { status: 200, body: supportedVersions(new Hrefs(base)) }
    },
  }),
  route({
    name: 'createSession',
    method: 'POST',
    path: at.sessions,
    permission: 'login',
    answers: { 200: 'session' },
    doc: 'Logs in with Basic credentials of user@organisation; the token comes in a header.',
    async handle({ base }, asker) {
      const { dialect, token } = asker
      const cookie = `${dialect.cookie}=${token}; Secure; Path=/; HttpOnly; SameSite=Strict`
      return {
        status: 200,
        headers: { [dialect.tokenHeader]: token, 'set-cookie': cookie },
        body: session(asker, new Hrefs(base)),
      }
    },
  }),
  route({
    name: 'readSession',
    method: 'GET',
    path: at.session,
    permission: 'session',
    answers: { 200: 'session' },
    doc: 'Who is logged in by this token.',
    async handle({ base }, asker) {
      return { status: 200, body: session(asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'deleteSession',
    method: 'DELETE',
    path: at.session,
    permission: 'session',
    answers: { 204: 'nothing' },
    doc: 'Logs out: the token is worth nothing from now on. A token for scripts is revoked at its own address instead.',
    async handle(world, { who, token }) {
      if (who.script) {
        throw new Fault('conflict', 'this is a token for scripts, not a session', {
          hint: 'DELETE its own address, below /api/session/tokens',
        })
      }
      await world.as(who, (tx) => endSession(tx, who, hashToken(token)))
      return { status: 204 }
    },
  }),
]
