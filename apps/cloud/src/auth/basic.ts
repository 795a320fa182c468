import { Fault } from '@skerry/fault'

export interface Credentials {
  readonly user: string
  readonly org: string
  readonly password: string
}

/** No name contains control characters, and PostgreSQL cannot search for all of them. */
const CONTROL = /\p{Cc}/u

/** Parses 'Basic …' of user@organisation:password. The organisation follows the last @. */
export function readBasic(header: string | undefined): Credentials {
  const coded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1]
  const text = coded === undefined ? '' : Buffer.from(coded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(colon, 0))
  const last = name.lastIndexOf('@')
  if (colon < 1 || last < 1 || CONTROL.test(name)) {
    throw new Fault('unauthenticated', 'log in with Basic credentials of user@organisation')
  }
  return {
    user: name.slice(0, last),
    org: name.slice(last + 1),
    password: text.slice(colon + 1),
  }
}
