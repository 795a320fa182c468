import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

export const permissions = [
  'anyone',
  'workflow:read',
  'workflow:run',
  'workflow:edit',
  // What others have started or scheduled.
  'workflow:admin',
] as const
export type Permission = (typeof permissions)[number]

const read = ['workflow:read'] as const satisfies Permission[]
const run = [...read, 'workflow:run'] as const satisfies Permission[]
const edit = [...run, 'workflow:edit'] as const satisfies Permission[]
const admin = [...edit, 'workflow:admin'] as const satisfies Permission[]

/** What the cloud's roles may do here. What is not listed is not allowed. */
export const rights = {
  'console only': read,
  user: run,
  author: edit,
  'organisation administrator': admin,
  'system administrator': admin,
} as const satisfies Record<string, readonly Permission[]>
export type Role = keyof typeof rights

export const isRole = (word: string): word is Role => Object.hasOwn(rights, word)

/** Somebody whom the cloud knows, as it has told us. */
export interface Who {
  readonly account: UserId
  readonly user: string
  readonly org: OrgId
  readonly orgName: string
  readonly role: Role
}

export interface Owned {
  readonly org: OrgId
}

export function may(who: Who, permission: Permission): boolean {
  const allowed: readonly Permission[] = rights[who.role]
  return permission === 'anyone' || allowed.includes(permission)
}

export const seesAll = ({ role }: Pick<Who, 'role'>): boolean => role === 'system administrator'

/** The one place that lets anybody do anything. A foreign thing is as unknown as one that never was. */
export function authorize(
  who: Who,
  permission: Permission,
  target: Owned | 'none' | undefined,
): void {
  if (target === undefined || (target !== 'none' && !seesAll(who) && who.org !== target.org)) {
    throw unknownThing()
  }
  if (!may(who, permission)) {
    throw new Fault('forbidden', `the role ${who.role} lacks the right ${permission}`)
  }
}

export const unknownThing = (): Fault =>
  new Fault('not-found', 'there is no such thing, or it is not yours')

/** What somebody has begun is theirs to end; whoever administers the organisation may too. */
export function authorizeOwn(who: Who, by: UserId): void {
  if (who.account === by || may(who, 'workflow:admin')) return
  throw new Fault('forbidden', `the role ${who.role} may only do this to what it has begun itself`)
}
