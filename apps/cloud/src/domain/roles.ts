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

/** Roles as data. What is not listed is not allowed. */
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

/** The effective role within one organisation. */
export const withinOrg = (role: Role): Role =>
  role === SYSTEM_ROLE ? 'organisation administrator' : role

/** The lower of two roles. Roles are nested: a lower one has no right that a higher one lacks. */
export const lowerRole = (one: Role, other: Role): Role =>
  isWithin(one, other) ? one : isWithin(other, one) ? other : 'console only'

/** The higher of two roles. */
export const higherRole = (one: Role, other: Role): Role => (isWithin(one, other) ? other : one)

function isWithin(one: Role, other: Role): boolean {
  const allowed: readonly Permission[] = roles[other]
  return roles[one].every((permission) => allowed.includes(permission))
}
