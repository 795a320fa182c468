import { Fault } from '@skerry/fault'

import { hashToken } from '../../auth/access-token.ts'
import { isSession } from '../../auth/caller.ts'
import { at } from '../../dialect/addresses.ts'
import { supportedVersions } from '../../documents/browse.ts'
import { session } from '../../documents/session.ts'
import { Hrefs } from '../../http/links.ts'
import { setCookie } from '../../http/page-request.ts'
import { route } from '../../http/route.ts'
import { endSession } from '../../tenants/logins.ts'

export const sessions = [
  route({
    name: 'listVersions',
    method: 'GET',
    path: at.versions,
    permission: 'anyone',
    answers: { 200: 'versions' },
    doc: 'The supported API versions, and where to log in.',
    async handle({ base }) {
      return { status: 200, body: supportedVersions(new Hrefs(base)) }
    },
  }),
  route({
    name: 'createSession',
    method: 'POST',
    path: at.sessions,
    permission: 'login',
    takesCode: true,
    answers: { 200: 'session' },
    doc: 'Logs in with Basic credentials of user@organisation; an API token is accepted as the password. If the account has a second factor, its code, or a recovery code, is needed too; a missing one is reported as SECOND_FACTOR. The token is returned in a header; the web UI gets it in a cookie instead.',
    async handle({ base }, caller) {
      const { dialect, token, isPage } = caller
      return {
        status: 200,
        // No script of a page can read a cookie that is HttpOnly, and a page needs no token.
        headers:
          isPage && dialect.pageCookie !== undefined
            ? { 'set-cookie': setCookie(dialect.pageCookie, token) }
            : { [dialect.tokenHeader]: token, 'set-cookie': setCookie(dialect.cookie, token) },
        body: session(caller, new Hrefs(base)),
      }
    },
  }),
  route({
    name: 'readSession',
    method: 'GET',
    path: at.session,
    permission: 'session',
    withoutSecondFactor: true,
    answers: { 200: 'session' },
    doc: 'The session of this token: its user and organisation.',
    async handle({ base }, caller) {
      return { status: 200, body: session(caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'deleteSession',
    method: 'DELETE',
    path: at.session,
    permission: 'session',
    withoutSecondFactor: true,
    answers: { 204: 'nothing' },
    doc: 'Logs out: the token is invalid from then on. An API token is revoked at its own address instead.',
    async handle(context, caller) {
      const { principal, token, isPage } = caller
      const { pageCookie } = caller.dialect
      if (!isSession(caller)) {
        throw new Fault('conflict', 'this is an API token, not a session', {
          hint: 'to revoke it, DELETE its own address below /api/session/tokens',
        })
      }
      await context.as(principal, (tx) => endSession(tx, principal, hashToken(token)))
      if (!isPage || pageCookie === undefined) return { status: 204 }
      return { status: 204, headers: { 'set-cookie': setCookie(pageCookie, '') } }
    },
  }),
]
