import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

export const permissions = [
  'anyone',
  'workflow:read',
  'workflow:run',
  'workflow:edit',
  // Runs and schedules of other users.
  'workflow:admin',
] as const
export type WorkflowPermission = (typeof permissions)[number]

const read = ['workflow:read'] as const satisfies WorkflowPermission[]
const run = [...read, 'workflow:run'] as const satisfies WorkflowPermission[]
const edit = [...run, 'workflow:edit'] as const satisfies WorkflowPermission[]
const admin = [...edit, 'workflow:admin'] as const satisfies WorkflowPermission[]

/** The permissions here of the roles that every organisation of the cloud has. Anything not listed is denied. */
export const rights = {
  'console only': read,
  user: run,
  author: edit,
  'organisation administrator': admin,
  'system administrator': admin,
} as const satisfies Record<string, readonly WorkflowPermission[]>
export type WorkflowRole = keyof typeof rights

const isRole = (word: string): word is WorkflowRole => Object.hasOwn(rights, word)

/** What rights at the cloud allow here, for roles of an organisation: as for the roles that have them above. */
const allowedBy: Readonly<Record<string, WorkflowPermission>> = {
  'org:read': 'workflow:read',
  'vm:power': 'workflow:run',
  'vm:edit': 'workflow:edit',
  'org:admin': 'workflow:admin',
}

/** The permissions here of a role of the cloud with these rights there. */
export const rightsOf = (role: string, atCloud: readonly string[]): readonly WorkflowPermission[] =>
  isRole(role)
    ? rights[role]
    : atCloud.flatMap((each) => (Object.hasOwn(allowedBy, each) ? (allowedBy[each] ?? []) : []))

/** An authenticated user, as the cloud reports it. */
export interface WorkflowPrincipal {
  readonly account: UserId
  readonly user: string
  readonly org: OrgId
  readonly orgName: string
  /** One that every organisation has, or one of this organisation. */
  readonly role: string
  readonly rights: readonly WorkflowPermission[]
}

export interface OwnedWorkflow {
  readonly org: OrgId
}

export function may(principal: WorkflowPrincipal, permission: WorkflowPermission): boolean {
  return permission === 'anyone' || principal.rights.includes(permission)
}

export const seesAll = ({ role }: Pick<WorkflowPrincipal, 'role'>): boolean =>
  role === 'system administrator'

/** The single place for authorization. A resource of another organisation is reported like a missing one. */
export function authorize(
  principal: WorkflowPrincipal,
  permission: WorkflowPermission,
  target: OwnedWorkflow | 'none' | undefined,
): void {
  if (
    target === undefined ||
    (target !== 'none' && !seesAll(principal) && principal.org !== target.org)
  ) {
    throw notFound()
  }
  if (!may(principal, permission)) {
    throw new Fault('forbidden', `the role ${principal.role} lacks the right ${permission}`)
  }
}

export const notFound = (): Fault => new Fault('not-found', 'not found, or you have no access')

/** A user may end their own runs and schedules; an administrator may end those of others. */
export function authorizeOwn(principal: WorkflowPrincipal, by: UserId): void {
  if (principal.account === by || may(principal, 'workflow:admin')) return
  throw new Fault(
    'forbidden',
    `the role ${principal.role} may do this only to its own runs and schedules`,
  )
}
