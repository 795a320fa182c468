import { Fault } from '@skerry/fault'

import { at } from '../addresses.ts'
import { accessToken, accessTokens as list } from '../documents/access-token.ts'
import { Hrefs } from '../http/links.ts'
import { ACCESS_TOKEN, hashToken } from '../identity/sessions.ts'
import { accessTokenParams } from '../params/access-token.ts'
import { route } from '../route.ts'
import { accessTokensOf, addAccessToken, dropAccessToken } from '../store/access-tokens.ts'

export const accessTokens = [
  route({
    name: 'listAccessTokens',
    method: 'GET',
    path: at.accessTokens,
    permission: 'session',
    answers: { 200: 'accessTokens' },
    doc: 'The tokens for scripts that the caller has made. Their secret is told once, when they are made.',
    async handle(world, asker) {
      const rows = await world.as(asker.who, (tx) => accessTokensOf(tx, asker.who))
      return { status: 200, body: list(rows, asker, new Hrefs(world.base)) }
    },
  }),
  route({
    name: 'addAccessToken',
    method: 'POST',
    path: at.accessTokens,
    permission: 'session',
    takes: accessTokenParams,
    answers: { 201: 'accessToken' },
    doc: 'Makes a token for a script: it may do what its user may, until it is revoked. Only a session makes one.',
    async handle(world, asker) {
      const { who, body } = asker
      if (who.script) {
        throw new Fault('forbidden', 'a token for scripts makes no other tokens', {
          hint: 'log in: POST /api/sessions',
        })
      }
      const token = `${ACCESS_TOKEN}${world.secret()}`
      const row = await world.as(who, (tx) =>
        addAccessToken(tx, who, { name: body.name, hash: hashToken(token) }),
      )
      const hrefs = new Hrefs(world.base)
      return {
        status: 201,
        headers: { location: hrefs.accessToken(row.id) },
        body: accessToken(row, asker, hrefs, token),
      }
    },
  }),
  route({
    name: 'readAccessToken',
    method: 'GET',
    path: at.accessToken,
    permission: 'session',
    answers: { 200: 'accessToken' },
    doc: 'One of them: when it was made and last used.',
    async handle({ base }, asker) {
      return { status: 200, body: accessToken(asker.params.accessToken, asker, new Hrefs(base)) }
    },
  }),
  route({
    name: 'deleteAccessToken',
    method: 'DELETE',
    path: at.accessToken,
    permission: 'session',
    answers: { 204: 'nothing' },
    doc: 'Revokes it: it is worth nothing from now on.',
    async handle(world, { who, params }) {
      await world.as(who, (tx) => dropAccessToken(tx, who, params.accessToken))
      return { status: 204 }
    },
  }),
]
