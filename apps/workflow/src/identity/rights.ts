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

/** The permissions of the cloud's roles here. Anything not listed is denied. */
export const rights = {
  'console only': read,
  user: run,
  author: edit,
  'organisation administrator': admin,
  'system administrator': admin,
} as const satisfies Record<string, readonly WorkflowPermission[]>
export type WorkflowRole = keyof typeof rights

export const isRole = (word: string): word is WorkflowRole => Object.hasOwn(rights, word)

/** An authenticated user, as the cloud reports it. */
export interface WorkflowPrincipal {
  readonly account: UserId
  readonly user: string
  readonly org: OrgId
  readonly orgName: string
  readonly role: WorkflowRole
}

export interface OwnedWorkflow {
  readonly org: OrgId
}

export function may(principal: WorkflowPrincipal, permission: WorkflowPermission): boolean {
  const allowed: readonly WorkflowPermission[] = rights[principal.role]
  return permission === 'anyone' || allowed.includes(permission)
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
