import type { Person } from '../domain/ldap-settings.ts'
import type { OpenIdSettings } from '../domain/openid-settings.ts'

export type Claims = Readonly<Record<string, unknown>>

/** Why no person follows from these claims; the login page has a text for each. */
export type ClaimsProblem = 'name' | 'groups' | 'acr'

const SUBJECT_MAX = 255
const GROUPS_MAX = 4096

/** The person of whom an identity server says this, or what is wrong with it. Pure. */
export function personOfClaims(
  { claims: names, domain, acr }: OpenIdSettings,
  claims: Claims,
): Person | ClaimsProblem {
  const { sub } = claims
  const claimed = claims[names.name]
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_MAX) return 'name'
  const name = typeof claimed === 'string' ? nameIn(claimed, domain) : undefined
  if (name === undefined) return 'name'
  if (acr.length > 0 && !acr.some((each) => each === claims['acr'])) return 'acr'
  const groups = groupsIn(claims, names.groups)
  if (!groups) return 'groups'
  return {
    subject: sub,
    name,
    enabled: true,
    groups: groups.map((group) => ({ dn: group, name: group })),
  }
}

function nameIn(claimed: string, domain: string | undefined): string | undefined {
  if (domain === undefined) return claimed
  const at = claimed.lastIndexOf('@')
  if (at < 0) return claimed
  return claimed.slice(at + 1).toLowerCase() === domain.toLowerCase()
    ? claimed.slice(0, at)
    : undefined
}

/**
 * A person in no group has no claim at some servers. Entra ID leaves it out, too, for a person in more than 200 groups, and names a place
 * where to ask: a person in so many must not seem to be in none.
 */
function groupsIn(claims: Claims, name: string): readonly string[] | undefined {
  const claimed = claims[name] ?? []
  const pointers = claims['_claim_names']
  if (typeof pointers === 'object' && pointers !== null && Object.hasOwn(pointers, name)) {
    return undefined
  }
  const groups: readonly unknown[] = Array.isArray(claimed) ? claimed : [claimed]
  if (groups.length > GROUPS_MAX || !groups.every((each) => typeof each === 'string')) {
    return undefined
  }
  return groups
}
