import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import { readRights, requireRole } from '../database/role-rights.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { requireRightsOf, type Principal } from '../domain/authorize.ts'
import { SYSTEM_ROLE } from '../domain/roles.ts'
import { orConflict } from './accounts.ts'
import { writeLeaseRule, type LeaseRule } from './leases.ts'
import type { OrgRow, VdcRow } from './orgs.ts'
import { writeQuota, type Quota } from './quotas.ts'

export type AccountRow = Selectable<CloudTables['account']>

/** The organisation of the system administrators. */
export const SYSTEM = 'System'

export const findAccount = (db: Kysely<CloudTables>, id: string): Promise<AccountRow | undefined> =>
  db
    .selectFrom('account')
    .selectAll()
    .where('id', '=', id as UserId)
    .executeTakeFirst()

export const accountsOf = (db: Kysely<CloudTables>, org: OrgId): Promise<AccountRow[]> =>
  db.selectFrom('account').selectAll().where('org', '=', org).orderBy('name').execute()

export async function insertOrg(tx: Tx, principal: Principal, name: string): Promise<OrgRow> {
  const row = await orConflict(`organisation ${name} already exists`, () =>
    tx.insertInto('org').values({ name }).returningAll().executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'org.added', org: row.id, details: { ...by(principal), name } })
  return row
}

export interface OrgChange {
  readonly name?: string
  readonly enabled?: boolean
  /** Whether users with a password need a second factor. */
  readonly secondFactorRequired?: boolean
}

/** Changes an organisation; missing values stay unchanged. */
export async function changeOrg(
  tx: Tx,
  principal: Principal,
  org: OrgRow,
  { name, enabled, secondFactorRequired }: OrgChange,
): Promise<OrgRow> {
  if (org.name === SYSTEM && (enabled === false || (name !== undefined && name !== SYSTEM))) {
    throw new Fault(
      'conflict',
      `${SYSTEM} is the organisation of the system administrators: it cannot be renamed or disabled`,
    )
  }
  const plain = {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  const rule = secondFactorRequired === undefined ? {} : { secondFactorRequired }
  const set = {
    ...plain,
    ...(secondFactorRequired !== undefined && { second_factor_required: secondFactorRequired }),
  }
  if (Object.keys(set).length === 0) return org
  const row = await orConflict(`organisation ${name} already exists`, () =>
    tx
      .updateTable('org')
      .set(set)
      .where('id', '=', org.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  const details = { ...by(principal), ...plain, ...rule }
  await emitEvent(tx, { kind: 'org.changed', org: org.id, details })
  return row
}

/** An organisation above its new quota keeps what it has, but gets no more. */
export async function changeQuota(
  tx: Tx,
  principal: Principal,
  org: OrgRow,
  quota: Quota,
): Promise<void> {
  await writeQuota(tx, org.id, quota)
  await emitEvent(tx, { kind: 'org.changed', org: org.id, details: { ...by(principal), quota } })
}

/** The new limits apply to running leases at once. */
export async function changeLeases(
  tx: Tx,
  principal: Principal,
  org: OrgRow,
  leases: Partial<LeaseRule>,
): Promise<void> {
  await writeLeaseRule(tx, org.id, leases)
  await emitEvent(tx, { kind: 'org.changed', org: org.id, details: { ...by(principal), leases } })
}

export async function insertVdc(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  name: string,
): Promise<VdcRow> {
  const row = await orConflict(`vDC ${name} already exists`, () =>
    tx.insertInto('vdc').values({ org, name }).returningAll().executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'vdc.added', org, details: { ...by(principal), name } })
  return row
}

export async function changeVdc(
  tx: Tx,
  principal: Principal,
  vdc: VdcRow,
  { name, enabled }: { readonly name?: string; readonly enabled?: boolean },
): Promise<VdcRow> {
  const set = {
    ...(name !== undefined && { name }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  if (Object.keys(set).length === 0) return vdc
  const row = await orConflict(`vDC ${name} already exists`, () =>
    tx
      .updateTable('vdc')
      .set(set)
      .where('org', '=', vdc.org)
      .where('id', '=', vdc.id)
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'vdc.changed', org: vdc.org, details: { ...by(principal), ...set } })
  return row
}

export interface AccountChange {
  readonly role?: string
  readonly enabled?: boolean
  /** The hash from auth/password.ts. */
  readonly password?: string
}

/**
 * Only a system administrator can create another one, and only in the organisation System. No one gives a role that has more rights than
 * their own.
 */
async function requireAssignable(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  role: string,
): Promise<void> {
  if (role !== SYSTEM_ROLE) return requireRole(tx, principal, org, role)
  const { rows } = await sql<{ name: string }>`select name from org where id = ${org}`.execute(tx)
  if (principal.role === role && rows[0]?.name === SYSTEM) return
  throw new Fault(
    'forbidden',
    `only a system administrator can assign the role ${role}, and only in ${SYSTEM}`,
  )
}

export async function insertAccount(
  tx: Tx,
  principal: Principal,
  {
    org,
    name,
    role,
    password,
  }: Pick<AccountRow, 'org' | 'name' | 'role'> & {
    readonly password: string
  },
): Promise<AccountRow> {
  await requireAssignable(tx, principal, org, role)
  const row = await orConflict(`user ${name} already exists`, () =>
    tx
      .insertInto('account')
      .values({ org, name, role, password })
      .returningAll()
      .executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'user.added', org, details: { ...by(principal), user: name, role } })
  return row
}

/**
 * Users cannot remove their own rights, because there might be no one to restore them. A new password, or disabling, ends all
 * sessions of the user: a trigger does that (migration `leaving`), however the account is changed.
 */
export async function changeAccount(
  tx: Tx,
  principal: Principal,
  row: AccountRow,
  { role, enabled, password }: AccountChange,
): Promise<AccountRow> {
  requireRightsOf(principal, await readRights(tx, row.org, row.role))
  if (role !== undefined) await requireAssignable(tx, principal, row.org, role)
  if (row.provider !== null && (role !== undefined || password !== undefined)) {
    throw new Fault(
      'conflict',
      'an identity server proves this user: it has the password, and its groups give the role',
      {
        hint: 'change the groups of the user there, or the roles of groups here: skerry identity set NAME --group GROUP=ROLE',
      },
    )
  }
  const lowers = enabled === false || (role !== undefined && role !== row.role)
  if (row.id === principal.account && lowers) {
    throw new Fault('conflict', 'you cannot disable yourself or change your own role', {
      hint: 'ask another administrator to do it',
    })
  }
  const details = {
    ...(role !== undefined && { role }),
    ...(enabled !== undefined && { disabled: !enabled }),
  }
  const set = { ...details, ...(password !== undefined && { password }) }
  if (Object.keys(set).length === 0) return row
  const changed = await tx
    .updateTable('account')
    .set(set)
    .where('org', '=', row.org)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()
  const what = { ...by(principal), user: row.name, ...details, password: password !== undefined }
  await emitEvent(tx, { kind: 'user.changed', org: row.org, details: what })
  return changed
}
