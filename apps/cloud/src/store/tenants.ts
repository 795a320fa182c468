import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Role } from '../identity/roles.ts'
import type { Tx } from '../world.ts'
import { orConflict } from './accounts.ts'
import type { Database } from './database.ts'
import { by, tell } from './events.ts'
import { writeLeaseRule, type LeaseRule } from './leases.ts'
import type { OrgRow, VdcRow } from './orgs.ts'
import { writeQuota, type Quota } from './quotas.ts'

export type AccountRow = Selectable<Database['account']>

/** The organisation of those who run the cloud. */
export const SYSTEM = 'System'

export const findAccount = (db: Kysely<Database>, id: string): Promise<AccountRow | undefined> =>
  db
    .selectFrom('account')
    .selectAll()
    .where('id', '=', id as UserId)
    .executeTakeFirst()

export const accountsOf = (db: Kysely<Database>, org: OrgId): Promise<AccountRow[]> =>
  db.selectFrom('account').selectAll().where('org', '=', org).orderBy('name').execute()

export async function insertOrg(tx: Tx, who: Who, name: string): Promise<OrgRow> {
  const row = await orConflict(`there is an organisation ${name} already`, () =>
    tx.insertInto('org').values({ name }).returningAll().executeTakeFirstOrThrow(),
  )
  await tell(tx, { kind: 'org.added', org: row.id, what: { ...by(who), name } })
  return row
}

/** What may be changed of an organisation: what is missing stays. */
export async function changeOrg(
  tx: Tx,
  who: Who,
  org: OrgRow,
  { name, enabled }: { readonly name?: string; readonly enabled?: boolean },
): Promise<OrgRow> {
  if (org.name === SYSTEM && (enabled === false || (name !== undefined && name !== SYSTEM))) {
    throw new Fault('conflict', `${SYSTEM} is the organisation of those who run the cloud`)
  }
  const set = {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  if (Object.keys(set).length === 0) return org
  const row = await orConflict(`there is an organisation ${name} already`, () =>
    tx
      .updateTable('org')
      .set(set)
      .where('id', '=', org.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await tell(tx, { kind: 'org.changed', org: org.id, what: { ...by(who), ...set } })
  return row
}

/** Whoever has more than it allows keeps it, and gets no more. */
export async function changeQuota(tx: Tx, who: Who, org: OrgRow, quota: Quota): Promise<void> {
  await writeQuota(tx, org.id, quota)
  await tell(tx, { kind: 'org.changed', org: org.id, what: { ...by(who), quota } })
}

/** Leases that run are held to it at once. */
export async function changeLeases(
  tx: Tx,
  who: Who,
  org: OrgRow,
  leases: Partial<LeaseRule>,
): Promise<void> {
  await writeLeaseRule(tx, org.id, leases)
  await tell(tx, { kind: 'org.changed', org: org.id, what: { ...by(who), leases } })
}

export async function insertVdc(tx: Tx, who: Who, org: OrgId, name: string): Promise<VdcRow> {
  const row = await orConflict(`there is a vdc ${name} already`, () =>
    tx.insertInto('vdc').values({ org, name }).returningAll().executeTakeFirstOrThrow(),
  )
  await tell(tx, { kind: 'vdc.added', org, what: { ...by(who), name } })
  return row
}

export async function changeVdc(
  tx: Tx,
  who: Who,
  vdc: VdcRow,
  { name, enabled }: { readonly name?: string; readonly enabled?: boolean },
): Promise<VdcRow> {
  const set = {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  if (Object.keys(set).length === 0) return vdc
  const row = await orConflict(`there is a vdc ${name} already`, () =>
    tx
      .updateTable('vdc')
      .set(set)
      .where('org', '=', vdc.org)
      .where('id', '=', vdc.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await tell(tx, { kind: 'vdc.changed', org: vdc.org, what: { ...by(who), ...set } })
  return row
}

export interface AccountChange {
  readonly role?: Role
  readonly enabled?: boolean
  /** As identity/password.ts makes it. */
  readonly password?: string
}

/** Those who run the cloud are made by one of them, and only in their own organisation. */
async function requireRole(tx: Tx, who: Who, org: OrgId, role: Role | undefined): Promise<void> {
  if (role !== 'system administrator') return
  const { rows } = await sql<{ name: string }>`select name from org where id = ${org}`.execute(tx)
  if (who.role === role && rows[0]?.name === SYSTEM) return
  throw new Fault('forbidden', `the role ${role} is given by one, and in ${SYSTEM} only`)
}

export async function insertAccount(
  tx: Tx,
  who: Who,
  { org, name, role, password }: Pick<AccountRow, 'org' | 'name' | 'role' | 'password'>,
): Promise<AccountRow> {
  await requireRole(tx, who, org, role)
  const row = await orConflict(`there is a user ${name} already`, () =>
    tx
      .insertInto('account')
      .values({ org, name, role, password })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await tell(tx, { kind: 'user.added', org, what: { ...by(who), user: name, role } })
  return row
}

/** Nobody takes their own rights away: there would be nobody to give them back. A new password ends all sessions. */
export async function changeAccount(
  tx: Tx,
  who: Who,
  row: AccountRow,
  { role, enabled, password }: AccountChange,
): Promise<AccountRow> {
  await requireRole(tx, who, row.org, role)
  if (row.role === 'system administrator' && who.role !== row.role) {
    throw new Fault('forbidden', `only a ${row.role} changes one`)
  }
  const lowers = enabled === false || (role !== undefined && role !== row.role)
  if (row.id === who.account && lowers) {
    throw new Fault('conflict', 'nobody disables themselves or changes their own role', {
      hint: 'let another administrator do it',
    })
  }
  const told = {
    ...(role !== undefined && { role }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  const set = { ...told, ...(password !== undefined && { password }) }
  if (Object.keys(set).length === 0) return row
  const changed = await tx
    .updateTable('account')
    .set(set)
    .where('org', '=', row.org)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  if (password !== undefined) {
    await tx
      .deleteFrom('session')
      .where('org', '=', row.org)
      .where('account', '=', row.id)
      .execute()
  }
  const what = { ...by(who), user: row.name, ...told, password: password !== undefined }
  await tell(tx, { kind: 'user.changed', org: row.org, what })
  return changed
}
