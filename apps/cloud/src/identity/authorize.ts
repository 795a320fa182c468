import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import { roles, type Permission, type Role } from './roles.ts'

export interface Who {
  readonly user: string
  readonly account: UserId
  readonly org: OrgId
  readonly orgName: string
  readonly role: Role
  /** Where the request came from; missing where nobody asked from anywhere. */
  readonly address?: string
  /** Came with a token for scripts: it may do what its user may, but not make more of its kind. */
  readonly script?: true
  /** Asked by a run of a workflow, which holds this grant of theirs. */
  readonly grant?: string
}

export interface Owned {
  readonly org: OrgId
}

export function may(who: Who, permission: Permission, target?: Owned): boolean {
  const allowed: readonly Permission[] = roles[who.role]
  return allowed.includes(permission) && (target === undefined || mine(who, target))
}

/** The one place that lets anybody do anything. A foreign thing is as unknown as one that never was. */
export function authorize(
  who: Who,
  permission: Permission,
  target: Owned | 'none' | undefined,
): void {
  if (target === undefined || (target !== 'none' && !mine(who, target))) {
    throw new Fault('not-found', 'there is no such thing, or it is not yours')
  }
  if (!may(who, permission)) {
    throw new Fault('forbidden', `the role ${who.role} lacks the right ${permission}`)
  }
}

function mine(who: Who, target: Owned): boolean {
  return who.role === 'system administrator' || who.org === target.org
}
