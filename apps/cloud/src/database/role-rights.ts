import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { requireRightsOf, type Principal } from '../domain/authorize.ts'
import { isBuiltIn, rightsOf, roles, type RoleRights } from '../domain/roles.ts'
import type { CloudTables, Tx } from './tables.ts'

/** In a query of `account`: the rights of its role, if it is one of the organisation; `withRights` reads them. */
export const OWN_RIGHTS = sql<readonly string[] | null>`(select permissions from org_role
  where org_role.org = account.org and org_role.name = account.own_role)`

/** A row of a query with `OWN_RIGHTS as own`. */
export interface RowWithRole {
  readonly role: string
  readonly own: readonly string[] | null
}

/** The row with the rights of its role. */
export const withRights = <Row extends RowWithRole>({
  own,
  ...row
}: Row): Omit<Row, 'own'> & RoleRights => ({ ...row, ...rightsOf(row.role, own) })

/** The rights that a role has now; none, if it was deleted. */
export async function readRights(
  db: Kysely<CloudTables>,
  org: OrgId,
  name: string,
): Promise<RoleRights> {
  if (isBuiltIn(name)) return rightsOf(name)
  const found = await db
    .selectFrom('org_role')
    .select('permissions')
    .where('org', '=', org)
    .where('name', '=', name)
    .executeTakeFirst()
  return rightsOf(name, found?.permissions)
}

/** A role that an account or a group can have. Until the transaction ends, it is not deleted. */
export async function roleNamed(
  tx: Kysely<CloudTables>,
  org: OrgId,
  name: string,
): Promise<RoleRights> {
  if (isBuiltIn(name)) return rightsOf(name)
  const found = await tx
    .selectFrom('org_role')
    .select('permissions')
    .where('org', '=', org)
    .where('name', '=', name)
    .forKeyShare()
    .executeTakeFirst()
  if (found) return rightsOf(name, found.permissions)
  const own = await tx
    .selectFrom('org_role')
    .select('name')
    .where('org', '=', org)
    .orderBy('name')
    .execute()
  const all = [...Object.keys(roles), ...own.map((each) => each.name)]
  throw new Fault('invalid', `Role must be one of: ${all.join(', ')}`)
}

/** Refuses a caller who lacks a right of this role of the organisation. */
export const requireRole = async (
  tx: Tx,
  principal: Principal,
  org: OrgId,
  name: string,
): Promise<void> => requireRightsOf(principal, await roleNamed(tx, org, name))
