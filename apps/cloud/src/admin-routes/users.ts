import { checkPassword } from '../auth/password-rules.ts'
import { hashPassword } from '../auth/password.ts'
import type { RequestContext } from '../context.ts'
import { at } from '../dialect/addresses.ts'
import { userToken, userTokens } from '../documents/access-token.ts'
import { user } from '../documents/admin/orgs.ts'
import { Hrefs } from '../http/links.ts'
import { readRoute, route } from '../http/route.ts'
import { changedUser, newUser } from '../params/admin.ts'
import { removeSecondFactors } from '../second-factors/second-factors.ts'
import { accessTokensOf, dropAccessToken } from '../tenants/access-tokens.ts'
import { changeAccount, insertAccount } from '../tenants/tenants.ts'

const SALT_BYTES = 16

/** Runs outside of the transaction, because hashing takes long. */
async function hashed({ secret }: RequestContext, password: string, user: string): Promise<string> {
  await checkPassword(password, user)
  return hashPassword(password, Buffer.from(secret(), 'base64url').subarray(0, SALT_BYTES))
}

export const adminUsers = [
  route({
    name: 'addUser',
    method: 'POST',
    path: at.adminUsers,
    permission: 'org:admin',
    takes: newUser,
    answers: { 201: 'admin.user' },
    doc: 'Creates a user of the organisation, with a role and a password.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const { name, role } = body
      const password = await hashed(context, body.password, name)
      const account = { org: params.org.id, name, role, password }
      const row = await context.as(principal, (tx) => insertAccount(tx, principal, account))
      const hrefs = new Hrefs(context.base)
      const headers = { location: hrefs.adminUser(row.id) }
      return { status: 201, headers, body: user(row, caller, hrefs) }
    },
  }),
  route({
    name: 'readUser',
    method: 'GET',
    path: at.adminUser,
    permission: 'org:admin',
    answers: { 200: 'admin.user' },
    doc: 'A user: name, role, whether enabled. Never the password.',
    async handle({ base }, caller) {
      return { status: 200, body: user(caller.params.account, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'changeUser',
    method: 'PUT',
    path: at.adminUser,
    permission: 'org:admin',
    takes: changedUser,
    answers: { 200: 'admin.user' },
    doc: 'Changes the role or password of a user, disables or enables the user. It takes effect at once: a new password, or disabling, ends the sessions, API tokens, workflow runs, schedules and screens of that user; a new password ends passkeys too.',
    async handle(context, caller) {
      const { principal, body, params } = caller
      const { password, ...rest } = body
      const { account } = params
      const change = {
        ...rest,
        ...(password !== undefined && { password: await hashed(context, password, account.name) }),
      }
      const row = await context.as(principal, (tx) => changeAccount(tx, principal, account, change))
      return { status: 200, body: user(row, caller, new Hrefs(context.base)) }
    },
  }),
  route({
    name: 'removeSecondFactors',
    method: 'POST',
    path: at.removeSecondFactors,
    permission: 'org:admin',
    answers: { 204: 'nothing' },
    doc: 'Removes all second factors and recovery codes of a user who has lost them: the password alone logs in again. Administrators remove their own with a code instead.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => removeSecondFactors(tx, principal, params.account))
      return { status: 204 }
    },
  }),
  readRoute({
    name: 'listUserTokens',
    path: at.userTokens,
    permission: 'org:admin',
    answers: { 200: 'accessTokens' },
    doc: 'Lists the API tokens of a user: name, creation time, last use. Never the secret.',
    read: (tx, { account }) => accessTokensOf(tx, { org: account.org, account: account.id }),
    show: ({ base }, caller, rows) => ({
      status: 200,
      body: userTokens({ account: caller.params.account.id, rows }, caller, new Hrefs(base)),
    }),
  }),
  route({
    name: 'readUserToken',
    method: 'GET',
    path: at.userToken,
    permission: 'org:admin',
    answers: { 200: 'accessToken' },
    doc: 'An API token of a user: when it was created and last used.',
    async handle({ base }, caller) {
      return { status: 200, body: userToken(caller.params.userToken, caller, new Hrefs(base)) }
    },
  }),
  route({
    name: 'deleteUserToken',
    method: 'DELETE',
    path: at.userToken,
    permission: 'org:admin',
    answers: { 204: 'nothing' },
    doc: 'Revokes an API token of a user, at once.',
    async handle(context, { principal, params }) {
      await context.as(principal, (tx) => dropAccessToken(tx, principal, params.userToken))
      return { status: 204 }
    },
  }),
]
