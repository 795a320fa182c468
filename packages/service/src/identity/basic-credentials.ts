export interface BasicCredentials {
  readonly user: string
  readonly org: string
  readonly password: string
}

/** Not allowed in a user name. */
const CONTROL = /\p{Cc}/u
const LENGTH_MAX = 4096

/**
 * Parses 'Basic …' of user@organisation:password. The organisation follows the last @; a name without @ belongs to the default
 * organisation, if configured. Returns undefined for anything else.
 */
export function readBasic(
  header: string | undefined,
  organisation?: string,
): BasicCredentials | undefined {
  if (header === undefined || header.length > LENGTH_MAX) return undefined
  const coded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header)?.[1]
  const text = coded === undefined ? '' : Buffer.from(coded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  const name = text.slice(0, Math.max(colon, 0))
  const last = name.lastIndexOf('@')
  if (colon < 1 || CONTROL.test(name)) return undefined
  const password = text.slice(colon + 1)
  if (last === -1 && organisation !== undefined) return { user: name, org: organisation, password }
  return last < 1 ? undefined : { user: name.slice(0, last), org: name.slice(last + 1), password }
}
