export const permissions = [
  'anyone',
  'login',
  'session',
  'org:read',
  'vm:read',
  'vm:power',
  'vm:edit',
  'vm:console',
  // Manage the users of an organisation.
  'org:admin',
  // See edge gateways, their rules and addresses.
  'network:read',
  // Create, change and delete networks, rules of edge gateways, external addresses.
  'network:edit',
  // Manage organisations and their quotas.
  'cloud:admin',
  'host:admin',
  // Manage external networks, and the edge gateways that lead to them.
  'external:admin',
  // Query the records of all organisations.
  'cloud:read',
] as const
export type Permission = (typeof permissions)[number]

const user = [
  'session',
  'org:read',
  'vm:read',
  'vm:power',
  'vm:console',
  'network:read',
] as const satisfies Permission[]
const author = [...user, 'vm:edit'] as const satisfies Permission[]

const administrator = [...author, 'org:admin', 'network:edit'] as const satisfies Permission[]

/** The roles of every organisation, as data. What is not listed is not allowed. */
export const roles = {
  'console only': ['session', 'org:read', 'vm:read', 'vm:console'],
  user,
  author,
  'organisation administrator': administrator,
  'system administrator': [
    ...administrator,
    'cloud:admin',
    'host:admin',
    'external:admin',
    'cloud:read',
  ],
} as const satisfies Record<string, readonly Permission[]>
export type Role = keyof typeof roles

/** The role of the cloud's operators: the only one that reaches beyond one organisation. */
export const SYSTEM_ROLE = 'system administrator' satisfies Role

export const isBuiltIn = (name: string): name is Role => Object.hasOwn(roles, name)

/** The rights that a role of an organisation can have. */
export const grantable: readonly Permission[] = administrator

/** A role with its rights. */
export interface RoleRights {
  readonly role: string
  readonly rights: readonly Permission[]
}

/** Those that a role of an organisation can have. */
export const grantableOf = (written: readonly string[]): readonly Permission[] =>
  grantable.filter((each) => written.includes(each))

/** The rights of a role by its name; `own`: the stored ones of a role of the organisation. */
export const rightsOf = (name: string, own: readonly string[] | null = null): RoleRights => ({
  role: name,
  rights: isBuiltIn(name) ? roles[name] : grantableOf(own ?? []),
})

/** The rights that one role has and another lacks. */
export const missingIn = (
  { rights }: Pick<RoleRights, 'rights'>,
  wanted: Pick<RoleRights, 'rights'>,
): readonly Permission[] => wanted.rights.filter((each) => !rights.includes(each))

/** Whether nothing of a role has changed. */
export const isSameRole = (one: RoleRights, other: RoleRights): boolean =>
  one.role === other.role &&
  missingIn(one, other).length === 0 &&
  missingIn(other, one).length === 0

/** The effective role within one organisation. */
export const withinOrg = (role: RoleRights): RoleRights =>
  role.role === SYSTEM_ROLE ? rightsOf('organisation administrator') : role

/** The rights that both roles have, under the name of the one that has no others. If both have others: of the first. */
export function lowerRole(one: RoleRights, other: RoleRights): RoleRights {
  const rights = one.rights.filter((each) => other.rights.includes(each))
  const { role } =
    missingIn(one, other).length === 0 && rights.length < one.rights.length ? other : one
  return { role, rights }
}

/** The role with the most rights; of several with as many, the first by name. A role that has all rights of the others is therefore first. */
export const highestRole = (given: readonly RoleRights[]): RoleRights | undefined =>
  given.toSorted(
    (one, other) => other.rights.length - one.rights.length || (one.role < other.role ? -1 : 1),
  )[0]
