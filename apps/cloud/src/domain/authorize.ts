import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import { roles, type Permission, type Role } from './roles.ts'

export interface Principal {
  readonly user: string
  readonly account: UserId
  readonly org: OrgId
  readonly orgName: string
  readonly role: Role
  /** The source address of the request; missing if there was no request. */
  readonly address?: string
  /** Authenticated by an API token, or by a session that began with one: it has the rights of its user, but cannot create tokens. */
  readonly script?: true
  /** Sent by a workflow run on behalf of the user, with this grant. */
  readonly grant?: string
}

export interface OwnedResource {
  readonly org: OrgId
}

export function may(principal: Principal, permission: Permission, target?: OwnedResource): boolean {
  const allowed: readonly Permission[] = roles[principal.role]
  return allowed.includes(permission) && (target === undefined || mine(principal, target))
}

/** The only place that authorises. A resource of another organisation is reported like one that never existed. */
export function authorize(
  principal: Principal,
  permission: Permission,
  target: OwnedResource | 'none' | undefined,
): void {
  if (target === undefined || (target !== 'none' && !mine(principal, target))) {
    throw new Fault('not-found', 'there is no such thing, or it is not yours')
  }
  if (!may(principal, permission)) {
    throw new Fault('forbidden', `the role ${principal.role} lacks the right ${permission}`)
  }
}

function mine(principal: Principal, target: OwnedResource): boolean {
  return principal.role === 'system administrator' || principal.org === target.org
}
