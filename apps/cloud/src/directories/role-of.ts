import type { DirectoryGroup } from '../domain/ldap-settings.ts'
import { higherRole, type Role } from '../domain/roles.ts'

export interface GroupRole {
  /** The name of a group, or its DN. */
  readonly name: string
  readonly role: Role
}

/** Names in a directory do not depend on case. */
const folded = (name: string): string => name.toLowerCase()

/** The highest role that any of these groups has; undefined: none of them has one. */
export function roleOf(
  groups: readonly DirectoryGroup[],
  given: readonly GroupRole[],
): Role | undefined {
  const names = new Set(groups.flatMap(({ dn, name }) => [folded(dn), folded(name)]))
  return given
    .filter(({ name }) => names.has(folded(name)))
    .map(({ role }) => role)
    .reduce<Role | undefined>((one, other) => (one ? higherRole(one, other) : other), undefined)
}
