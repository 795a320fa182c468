// A login without a password: a person allows this program in a browser (RFC 8628).
import { Fault } from '@skerry/fault'

import type { CloudAnswer } from './ask.ts'
import { overHttps, type CloudAddress } from './over-https.ts'
import { reviveFault } from './revive-fault.ts'
import type { AccessToken } from './session.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:device_code'

export interface DeviceCode {
  /** The secret of this program. */
  readonly device: string
  /** What the person compares. */
  readonly code: string
  /** Where the person allows it: to type the code, and with the code. */
  readonly page: string
  readonly pageWithCode: string
  readonly expiresMs: number
  readonly intervalMs: number
}

/** The token, or why there is none: ask again, ask less often, a person has refused, or it is too late. */
export type DeviceToken = AccessToken | 'pending' | 'slow-down' | 'denied' | 'over'

const send = (
  at: CloudAddress,
  path: string,
  form: Readonly<Record<string, string>>,
): Promise<CloudAnswer> =>
  overHttps(
    at,
    {},
  )({
    method: 'POST',
    path,
    headers: { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })

const read = ({ text }: CloudAnswer): Readonly<Record<string, unknown>> => {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

/** `name`: how this program calls itself; its token gets this name. */
export async function beginDeviceLogin(at: CloudAddress, name: string): Promise<DeviceCode> {
  const answer = await send(at, '/api/oauth/device', { client_name: name })
  if (answer.status !== 200) throw reviveFault(answer)
  const got = read(answer)
  return {
    device: String(got['device_code']),
    code: String(got['user_code']),
    page: String(got['verification_uri']),
    pageWithCode: String(got['verification_uri_complete']),
    expiresMs: Number(got['expires_in']) * 1000,
    intervalMs: Number(got['interval']) * 1000,
  }
}

const words: Readonly<Record<string, Exclude<DeviceToken, AccessToken>>> = {
  authorization_pending: 'pending',
  slow_down: 'slow-down',
  access_denied: 'denied',
  expired_token: 'over',
}

export async function takeDeviceToken(at: CloudAddress, device: string): Promise<DeviceToken> {
  const form = { grant_type: GRANT, device_code: device }
  const answer = await send(at, '/api/oauth/token', form)
  const { access_token: token, href, error } = read(answer)
  if (answer.status === 200 && typeof token === 'string' && typeof href === 'string') {
    return { token, href }
  }
  const word = typeof error === 'string' ? words[error] : undefined
  if (word !== undefined) return word
  if (answer.status === 200) throw new Fault('unavailable', 'the answer contains no token')
  throw reviveFault(answer)
}
