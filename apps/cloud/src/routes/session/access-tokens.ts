import { ACCESS_TOKEN, hashToken } from '../../auth/access-token.ts'
import { at } from '../../dialect/addresses.ts'
import { accessToken, accessTokens as list } from '../../documents/access-token.ts'
import { Hrefs } from '../../http/links.ts'
import { route } from '../../http/route.ts'
import { accessTokenParams } from '../../params/access-token.ts'
import {
  accessTokensOf,
  addAccessToken,
  dropAccessToken,
  requireLogin,
} from '../../tenants/access-tokens.ts'

export const accessTokens = [
  route({
    name: 'listAccessTokens',
    method: 'GET',
    path: at.accessTokens,
    permission: 'session',
    answers: { 200: 'accessTokens' },
    doc: 'Lists the API tokens of the caller. The secret of a token is returned only when it is created.',
    async handle(context, caller) {
      const rows = await context.as(caller.principal, (tx) => accessTokensOf(tx, caller.principal))
      return { status: 200, body: list(rows, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'addAccessToken',
    method: 'POST',
    path: at.accessTokens,
    permission: 'session',
    takes: accessTokenParams,
    answers: { 201: 'accessToken' },
    doc: 'Creates an API token. It has the rights of its user until it is revoked or expires, and is accepted wherever a password is. Only a session that began with a password can create one.',
    async handle(context, caller) {
      const { principal, body } = caller
      requireLogin(principal, 'log in with a password: POST /api/sessions')
      const token = `${ACCESS_TOKEN}${context.secret()}`
      const row = await context.as(principal, (tx) =>
        addAccessToken(tx, principal, { ...body, hash: hashToken(token) }),
      )
      const hrefs = new Hrefs(context.base)
      return {
        status: 201,
        headers: { location: hrefs.accessToken(row.id) },
        body: accessToken(row, caller, hrefs, token),
      }
    },
  }),
  route({
    name: 'readAccessToken',
    method: 'GET',
    path: at.accessToken,
    permission: 'session',
    answers: { 200: 'accessToken' },
    doc: 'An API token of the caller: when it was created and last used, and when it expires.',
    async handle({ base }, caller) {
      return { status: 200, body: accessToken(caller.params.accessToken, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'deleteAccessToken',
    method: 'DELETE',
    path: at.accessToken,
    permission: 'session',
    answers: { 204: 'nothing' },
    doc: 'Revokes an API token. It is invalid from then on.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => dropAccessToken(tx, principal, params.accessToken))
      return { status: 204 }
    },
  }),
]
