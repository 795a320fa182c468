import { isIP } from 'node:net'

import { Fault } from '@skerry/fault'
import type { Peer } from '@skerry/host-api'
import { Compile, type Static, Type } from '@skerry/schema'

import { ACCESS_TOKEN } from '../auth/access-token.ts'
import { requireSecondFactor } from '../domain/authorize.ts'
import {
  keepWorkflowLogin,
  noteWorkflowLogin,
  readAccountStamp,
} from '../tenants/workflow-logins.ts'
import type { MachineContext } from './context.ts'
import { forWorkflows } from './for-workflows.ts'

const Word = Type.String({ minLength: 1, maxLength: 1024, pattern: '^\\P{Cc}+$' })
const PresentedCredentials = Type.Object(
  {
    user: Word,
    org: Word,
    password: Type.String({ maxLength: 4096 }),
    /** The address of the user, so that wrong guesses from there do not lock others out. */
    address: Type.String({ maxLength: 100 }),
  },
  { additionalProperties: false },
)
const compiled = Compile(PresentedCredentials)

/** Checks the credentials that a user gave to a workflow server: failures and events are recorded as for a login here. */
export async function checkCredentials(context: MachineContext, peer: Peer, body: unknown) {
  if (!compiled.Check(body) || isIP(body.address.split('%')[0] ?? '') === 0) {
    throw new Fault('invalid', 'the credentials or their address are malformed')
  }
  const { address, ...credentials }: Static<typeof PresentedCredentials> = body
  // Read first: a change during the check leads to another stamp.
  const stamp = await readAccountStamp(context.db)
  const found = await forWorkflows(context).check(credentials, address).catch(asWithoutCode)
  requireSecondFactor(found)
  const { id: account, name: user, org, role, rights, accessToken } = found
  const orgName = credentials.org
  const login = { server: peer.id, org, account, user, address, token: accessToken?.name }
  await noteWorkflowLogin(context.db, login)
  return { account, org, orgName, user, role, rights, stamp }
}

const PresentedSession = Type.Object(
  { token: Type.String({ minLength: 1, maxLength: 1024 }) },
  { additionalProperties: false },
)
const compiledSession = Compile(PresentedSession)

/** No code of a second factor comes here: workflow servers check the same credentials again and again. */
function asWithoutCode(error: unknown): never {
  if (!(error instanceof Fault) || error.kind !== 'second-factor') throw error
  const words = 'this account has a second factor: give an API token as the password'
  throw new Fault('second-factor', words, { cause: error })
}

/**
 * Checks the session of the web UI that a cell passed on to a workflow server. The server may act for its user from now on, as after
 * a login there. An API token is for scripts, and is no session.
 */
export async function checkSession(context: MachineContext, peer: Peer, body: unknown) {
  if (!compiledSession.Check(body)) throw new Fault('invalid', 'the session is malformed')
  const { token } = body
  const principal = token.startsWith(ACCESS_TOKEN)
    ? undefined
    : await forWorkflows(context).sessions.find(token)
  if (!principal) throw new Fault('unauthenticated', 'this session has ended; log in again')
  requireSecondFactor(principal)
  const { account, org, orgName, user, role, rights } = principal
  await keepWorkflowLogin(context.db, { server: peer.id, org, account })
  return { account, org, orgName, user, role, rights }
}
