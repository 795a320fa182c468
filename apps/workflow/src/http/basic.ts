export interface Credentials {
  readonly user: string
  readonly org: string
  readonly password: string
}

/** No name holds one. */
const CONTROL = /\p{Cc}/u
const LENGTH_MAX = 4096

/** 'Basic …' of user@organisation:password. The organisation stands behind the last @. Undefined: it is something else. */
export function readBasic(header: string | undefined): Credentials | undefined {
  if (header === undefined || header.length > LENGTH_MAX) return undefined
  const coded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header)?.[1]
  const text = coded === undefined ? '' : Buffer.from(coded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(colon, 0))
  const last = name.lastIndexOf('@')
  if (colon < 1 || last < 1 || CONTROL.test(name)) return undefined
  return {
    user: name.slice(0, last),
    org: name.slice(last + 1),
    password: text.slice(colon + 1),
  }
}
