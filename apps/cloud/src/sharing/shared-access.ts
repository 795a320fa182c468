import type { OrgId } from '@skerry/vm'
import { sql, type Kysely, type RawBuilder } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import {
  accessBy,
  addsTo,
  type SharedAccess,
  type SharedKind,
  type ShareLevel,
} from '../domain/shares.ts'

/** What a resource is shared with: its vApp, or the catalogs that it is in. */
export type SharedTarget =
  | { readonly vapp: string }
  | { readonly catalog: string }
  | { readonly catalogItem: string }
  | { readonly template: string }

const kindOf = (target: SharedTarget): SharedKind => ('vapp' in target ? 'vapp' : 'catalog')

type Sql = RawBuilder<unknown>

/** SQL over a share: whether it is one of the target. */
function isOf(target: SharedTarget, org: OrgId): Sql {
  if ('vapp' in target) return sql`share.vapp = ${target.vapp}::uuid`
  if ('catalog' in target) return sql`share.catalog = ${target.catalog}::uuid`
  const item =
    'catalogItem' in target
      ? sql`catalog_item.id = ${target.catalogItem}::uuid`
      : sql`catalog_item.template = ${target.template}::uuid`
  return sql`share.catalog in (select catalog from catalog_item where catalog_item.org = ${org} and ${item})`
}

/** Who asks: a user, of whom shares know. */
export type SharedWith = Pick<Principal, 'org' | 'account'>

/** SQL: the shares that count for this user now, as a table. */
export const sharesWith = ({ org, account }: SharedWith): Sql =>
  sql`shared_with(${org}::uuid, ${account}::uuid)`

/** What shares give this user there; undefined: nothing. */
export async function readAccess(
  db: Kysely<CloudTables>,
  principal: SharedWith,
  target: SharedTarget,
): Promise<SharedAccess | undefined> {
  const { rows } = await sql<{ level: ShareLevel }>`select share.level
    from ${sharesWith(principal)} share where ${isOf(target, principal.org)}`.execute(db)
  return accessBy(
    kindOf(target),
    rows.map(({ level }) => level),
  )
}

/** Shares are of users: a workflow run has what its grant gives, and nothing else. */
export const isSharedWith = ({ grant }: Pick<Principal, 'grant'>): boolean => grant === undefined

/**
 * The caller with what shares give at this resource, if they can give more than the role does. Read with each request, in the
 * transaction that loads the resource: a share counts until it is removed, and no longer.
 */
export async function withAccess(
  db: Kysely<CloudTables>,
  principal: Principal,
  org: OrgId,
  target: SharedTarget | undefined,
): Promise<Principal> {
  // What shares gave at another resource, or before, does not count here.
  const { there: _before, ...byRole } = principal
  if (!target || !isSharedWith(byRole) || byRole.org !== org) return byRole
  if (!addsTo(byRole, kindOf(target))) return byRole
  const there = await readAccess(db, byRole, target)
  return there ? { ...byRole, there } : byRole
}

/** Whether anything at all is shared with this user. */
export async function hasShares(db: Kysely<CloudTables>, principal: Principal): Promise<boolean> {
  if (!isSharedWith(principal)) return false
  const { rows } = await sql`select from ${sharesWith(principal)} share limit 1`.execute(db)
  return rows.length > 0
}
