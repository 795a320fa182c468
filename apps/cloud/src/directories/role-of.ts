import type { DirectoryGroup } from '../domain/ldap-settings.ts'
import { highestRole, type RoleRights } from '../domain/roles.ts'

export interface GroupRole {
  /** The name of a group, or its DN. */
  readonly name: string
  readonly role: string
}

/** With the rights that the role has now. */
export type RankedGroupRole = GroupRole & RoleRights

/** Names in a directory do not depend on case; those of an OpenID Connect server do. */
const folded = (name: string): string => name.toLowerCase()
const exact = (name: string): string => name

/** Those of the groups with a role that a person is in. */
export function groupsAmong<Given extends Pick<GroupRole, 'name'>>(
  groups: readonly DirectoryGroup[],
  given: readonly Given[],
  kind: 'ldap' | 'oidc' = 'ldap',
): readonly Given[] {
  const spelt = kind === 'ldap' ? folded : exact
  const names = new Set(groups.flatMap(({ dn, name }) => [spelt(dn), spelt(name)]))
  return given.filter(({ name }) => names.has(spelt(name)))
}

/** The role of the groups that has the most rights; undefined: none of them has a role. */
export const roleOf = (
  groups: readonly DirectoryGroup[],
  given: readonly RankedGroupRole[],
  kind: 'ldap' | 'oidc' = 'ldap',
): string | undefined => highestRole(groupsAmong(groups, given, kind))?.role
