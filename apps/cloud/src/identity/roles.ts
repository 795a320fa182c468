export const permissions = [
  'anyone',
  'login',
  'session',
  'org:read',
  'vm:read',
  'vm:power',
  'vm:edit',
  'vm:console',
  // Users of an organisation.
  'org:admin',
  // Organisations, and what each may have.
  'cloud:admin',
  'host:admin',
  // Records of all organisations at once.
  'cloud:read',
] as const
export type Permission = (typeof permissions)[number]

const user = [
  'session',
  'org:read',
  'vm:read',
  'vm:power',
  'vm:console',
] as const satisfies Permission[]
const author = [...user, 'vm:edit'] as const satisfies Permission[]

/** Roles as data. What is not listed is not allowed. */
export const roles = {
  'console only': ['session', 'org:read', 'vm:read', 'vm:console'],
  user,
  author,
  'organisation administrator': [...author, 'org:admin'],
  'system administrator': [...author, 'org:admin', 'cloud:admin', 'host:admin', 'cloud:read'],
} as const satisfies Record<string, readonly Permission[]>
export type Role = keyof typeof roles

/** The one of those who run the cloud: the only one that reaches beyond an organisation. */
export const SYSTEM_ROLE = 'system administrator' satisfies Role

/** What somebody is worth inside of one organisation, whoever they are. */
export const withinOrg = (role: Role): Role =>
  role === SYSTEM_ROLE ? 'organisation administrator' : role

/** The one that may less. Roles stand above each other: the lower may nothing that the higher may not. */
export const lowerRole = (one: Role, other: Role): Role =>
  isWithin(one, other) ? one : isWithin(other, one) ? other : 'console only'

function isWithin(one: Role, other: Role): boolean {
  const allowed: readonly Permission[] = roles[other]
  return roles[one].every((permission) => allowed.includes(permission))
}
