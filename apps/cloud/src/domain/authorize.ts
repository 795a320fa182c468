import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'

import { missingIn, SYSTEM_ROLE, type Permission, type RoleRights } from './roles.ts'
import type { SharedAccess } from './shares.ts'

export interface Principal extends RoleRights {
  readonly user: string
  readonly account: UserId
  readonly org: OrgId
  readonly orgName: string
  /** The source address of the request; missing if there was no request. */
  readonly address?: string
  /** Authenticated by an API token, or by a session that began with one: it has the rights of its user, but cannot create tokens. */
  readonly script?: true
  /** The organisation requires a second factor, and the user has none yet: this session may only add one. */
  readonly lacksSecondFactor?: true
  /** Sent by a workflow run on behalf of the user, with this grant. */
  readonly grant?: string
  /** What shares give at the object that the request names, and nowhere else. */
  readonly there?: SharedAccess
}

export interface OwnedResource {
  readonly org: OrgId
}

export function may(principal: Principal, permission: Permission, target?: OwnedResource): boolean {
  const has = rightsHere(principal).includes(permission)
  return has && (target === undefined || mine(principal, target))
}

/** The rights of the role, and those of shares of the object that the request names. */
const rightsHere = ({ rights, there }: Principal): readonly Permission[] =>
  there ? [...rights, ...there.rights] : rights

/** Whether the right is for all of the organisation, by the role; not by a share of one object. */
export const mayEverywhere = ({ rights }: Principal, permission: Permission): boolean =>
  rights.includes(permission)

/** Refuses a user who needs a second factor and has none yet. */
export function requireSecondFactor({
  lacksSecondFactor,
}: Pick<Principal, 'lacksSecondFactor'>): void {
  if (lacksSecondFactor !== true) return
  throw new Fault('forbidden', 'your organisation requires a second factor, and you have none', {
    hint: 'add one: skerry second-factor add, or in the web UI',
  })
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

/** No one gives a role that has more rights than their own, or acts on a user who has it. */
export function requireRightsOf(principal: Principal, { role, rights }: RoleRights): void {
  if (role === SYSTEM_ROLE && principal.role !== SYSTEM_ROLE) {
    throw new Fault('forbidden', `only a ${SYSTEM_ROLE} can change this user`)
  }
  requireAll(
    principal.rights,
    rights,
    `the role ${role} has rights that the role ${principal.role} lacks`,
  )
}

/** The same for what is given at the object that the request names. `what` has these rights. */
export const requireRightsHere = (
  principal: Principal,
  what: string,
  rights: readonly Permission[],
): void => requireAll(rightsHere(principal), rights, `${what} has rights that you lack here`)

function requireAll(
  held: readonly Permission[],
  wanted: readonly Permission[],
  refusal: string,
): void {
  const missing = missingIn({ rights: held }, { rights: wanted })
  if (missing.length === 0) return
  throw new Fault('forbidden', `${refusal}: ${missing.join(', ')}`, {
    hint: 'ask an administrator who has these rights',
  })
}

function mine(principal: Principal, target: OwnedResource): boolean {
  return principal.role === SYSTEM_ROLE || principal.org === target.org
}
