import { Fault } from '@skerry/fault'
import { attribute, childrenByLocalName, element, text } from '@skerry/xml'

import { ACCEPT, Cloud } from './cloud.ts'
import { overHttps, TOKEN_HEADER, type CloudAddress } from './over-https.ts'
import { reviveFault } from './revive-fault.ts'

const TOKENS = '/api/session/tokens'

/** The cloud as who holds this token sees it. */
export const cloudByToken = (at: CloudAddress, token: string): Cloud =>
  new Cloud(overHttps(at, { [TOKEN_HEADER]: token }))

/** A token by user@organisation and password. It is over when it was not used for half an hour. */
export async function logIn(at: CloudAddress, user: string, password: string): Promise<string> {
  const basic = Buffer.from(`${user}:${password}`).toString('base64')
  const ask = overHttps(at, { authorization: `Basic ${basic}` })
  const answer = await ask({ method: 'POST', path: '/api/sessions', headers: { accept: ACCEPT } })
  const token = answer.headers[TOKEN_HEADER]
  if (answer.status === 200 && typeof token === 'string') return token
  if (answer.status === 200) throw new Fault('unavailable', 'the login was answered without token')
  throw reviveFault(answer)
}

/** What a session began is over. */
export async function logOut(cloud: Cloud): Promise<void> {
  await cloud.act('DELETE', '/api/session')
}

export interface AccessToken {
  readonly token: string
  /** Where it is revoked. */
  readonly href: string
}

/** A token that stays until it is revoked; only a session makes one. Where the name is taken it gets a number. */
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
  throw new Fault('unavailable', 'the token was answered without its text')
}
