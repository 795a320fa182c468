import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text } from '@skerry/xml'

import { ACCEPT, Cloud, SECOND_FACTOR_HEADER } from './cloud.ts'
import { basicHeader } from './http-client.ts'
import { overHttps, TOKEN_HEADER, type CloudAddress } from './over-https.ts'
import { reviveFault } from './revive-fault.ts'

const TOKENS = '/api/session/tokens'

/** Whether this is an API token. A cloud and its workflow server accept it wherever they accept a password. */
export const isAccessToken = (password: string): boolean => /^skat_[\w-]{43}$/.test(password)

/** A client that authenticates with a token. */
export const cloudByToken = (at: CloudAddress, token: string): Cloud =>
  new Cloud(overHttps(at, { [TOKEN_HEADER]: token }))

/**
 * Logs in with user@organisation and password; returns a session token, which expires after 30 minutes without use. Throws a Fault
 * `second-factor` if the account has a second factor and `code` is missing.
 */
export async function logIn(
  at: CloudAddress,
  user: string,
  password: string,
  code?: string,
): Promise<string> {
  const ask = overHttps(at, { authorization: basicHeader(user, password) })
  const headers = { accept: ACCEPT, ...(code !== undefined && { [SECOND_FACTOR_HEADER]: code }) }
  const answer = await ask({ method: 'POST', path: '/api/sessions', headers })
  const token = answer.headers[TOKEN_HEADER]
  if (answer.status === 200 && typeof token === 'string') return token
  if (answer.status === 200) throw new Fault('unavailable', 'the login response contains no token')
  throw reviveFault(answer)
}

/** Ends the session. */
export async function logOut(cloud: Cloud): Promise<void> {
  await cloud.act('DELETE', '/api/session')
}

export interface AccessToken {
  readonly token: string
  /** Href to revoke it. */
  readonly href: string
}

/** Creates a token that is valid until revoked; requires a session. If the name is taken, a number is appended. */
export async function addAccessToken(cloud: Cloud, wanted: string): Promise<AccessToken> {
  const taken = childrenByLocalName(await cloud.get(TOKENS), 'AccessToken').map((each) =>
    attribute(each, 'name'),
  )
  let name = wanted
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}, ${number}`
  const made = await cloud.act('POST', TOKENS, { body: element('AccessTokenParams', { name }) })
  const token = text(childrenByLocalName(made, 'Token')[0])
  const href = attribute(made, 'href')
  if (token !== undefined && href !== undefined) return { token, href }
  throw new Fault('unavailable', 'the response contains no token text')
}
