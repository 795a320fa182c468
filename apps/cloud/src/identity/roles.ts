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
