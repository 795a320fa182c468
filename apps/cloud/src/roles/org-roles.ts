// The roles of an organisation, as its administrators see and change them.
import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import { requireRightsOf, type Principal } from '../domain/authorize.ts'
import { rightsOf, type Permission } from '../domain/roles.ts'
import { orConflict } from '../tenants/accounts.ts'

export type OrgRoleRow = Selectable<CloudTables['org_role']>

/** A role with what depends on it. */
export interface UsedRole {
  readonly role: OrgRoleRow
  readonly users: number
  /** Groups of identity servers. */
  readonly groups: number
}

const MOST = 64

export const findRole = (db: Kysely<CloudTables>, id: string): Promise<OrgRoleRow | undefined> =>
  db.selectFrom('org_role').selectAll().where('id', '=', id).executeTakeFirst()

export async function orgRolesOf(db: Kysely<CloudTables>, org: OrgId): Promise<UsedRole[]> {
  const rows = await db
    .selectFrom('org_role')
    .selectAll()
    .where('org', '=', org)
    .orderBy('name')
    .execute()
  const used: UsedRole[] = []
  for (const role of rows) used.push(await withUse(db, role))
  return used
}

export async function withUse(db: Kysely<CloudTables>, role: OrgRoleRow): Promise<UsedRole> {
  const { rows } = await sql<{ users: number; groups: number }>`select
    (select count(*)::integer from account where org = ${role.org} and own_role = ${role.name}) as users,
    (select count(*)::integer from group_role where org = ${role.org} and own_role = ${role.name}) as groups`.execute(
    db,
  )
  return { role, users: rows[0]?.users ?? 0, groups: rows[0]?.groups ?? 0 }
}

export interface NewRole {
  readonly name: string
  readonly rights: readonly Permission[]
}

export async function addRole(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  { name, rights }: NewRole,
): Promise<UsedRole> {
  requireRightsOf(principal, { role: name, rights })
  await requireRoom(tx, org)
  const role = await orConflict(`role ${name} already exists`, () =>
    tx
      .insertInto('org_role')
      .values({ org, name, permissions: [...rights] })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'role.added', org, details: { ...by(principal), name, rights } })
  return { role, users: 0, groups: 0 }
}

/** Counted one request after the other. Tenants have no right to lock the row of their organisation. */
async function requireRoom(tx: Tx, org: OrgId): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('roles'), hashtext(${org}::text))`.execute(tx)
  const { rows } = await sql<{ all: number }>`select count(*)::integer as all from org_role
    where org = ${org}`.execute(tx)
  if ((rows[0]?.all ?? 0) < MOST) return
  throw new Fault('conflict', `an organisation can have at most ${MOST} roles of its own`)
}

/** Replaces the rights: what they were and what they become must both be rights of the caller. */
export async function changeRole(
  tx: Tx,
  principal: Principal,
  { org, id, name }: OrgRoleRow,
  rights: readonly Permission[],
): Promise<UsedRole> {
  if (principal.org === org && principal.role === name) {
    throw new Fault('conflict', 'you cannot change your own role', {
      hint: 'ask another administrator to do it',
    })
  }
  const before = await tx
    .selectFrom('org_role')
    .select('permissions')
    .where('org', '=', org)
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirstOrThrow(deletedMeanwhile)
  requireRightsOf(principal, rightsOf(name, before.permissions))
  requireRightsOf(principal, { role: name, rights })
  const role = await tx
    .updateTable('org_role')
    .set({ permissions: [...rights] })
    .where('org', '=', org)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow(deletedMeanwhile)
  await emitEvent(tx, { kind: 'role.changed', org, details: { ...by(principal), name, rights } })
  return withUse(tx, role)
}

/** Only one that no one has. A foreign key refuses it also to who gets it meanwhile. */
export async function deleteRole(tx: Tx, principal: Principal, role: OrgRoleRow): Promise<void> {
  const { org, id, name } = role
  requireRightsOf(principal, rightsOf(name, role.permissions))
  const { users, groups } = await withUse(tx, role)
  if (users + groups > 0) {
    throw new Fault('conflict', `role ${name} is in use: users ${users}, groups ${groups}`, {
      hint: 'give them another role first: skerry user set USER --role ROLE, skerry identity set NAME --group GROUP=ROLE',
    })
  }
  await orConflict(`role ${name} was given to a user or a group meanwhile`, () =>
    tx
      .deleteFrom('org_role')
      .where('org', '=', org)
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirstOrThrow(deletedMeanwhile),
  )
  await emitEvent(tx, { kind: 'role.removed', org, details: { ...by(principal), name } })
}

/** Another request was faster. */
const deletedMeanwhile = (): Fault => new Fault('not-found', 'the role was deleted meanwhile')
