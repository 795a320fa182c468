import { Fault } from '@skerry/fault'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import { requireRole } from '../database/role-rights.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import type { LdapSettings } from '../domain/ldap-settings.ts'
import type { OpenIdSettings } from '../domain/openid-settings.ts'
import { rightsOf, SYSTEM_ROLE } from '../domain/roles.ts'
import { orConflict } from '../tenants/accounts.ts'
import { SYSTEM } from '../tenants/tenants.ts'
import type { DirectoryAccess } from './ask-directory.ts'
import type { OpenIdAccess } from './ask-openid.ts'
import type { GroupRole, RankedGroupRole } from './role-of.ts'

/** An identity server without its secret, which tenants cannot read. */
export type IdentityProviderRow = Omit<Selectable<CloudTables['identity_provider']>, 'sealed'>

export interface WholeProvider {
  readonly provider: IdentityProviderRow
  readonly groups: readonly GroupRole[]
}

/** The settings of each kind. */
export type IdentitySettings =
  | { readonly kind: 'ldap'; readonly settings: LdapSettings }
  | { readonly kind: 'oidc'; readonly settings: OpenIdSettings }

/** A row has the settings of its kind. */
export const settingsOf = ({
  kind,
  settings,
}: Pick<IdentityProviderRow, 'kind' | 'settings'>): IdentitySettings =>
  ({ kind, settings }) as IdentitySettings

/** Enabled ones: a name without an account is looked up in each. */
const MOST = 16

const columns = [
  'org',
  'id',
  'name',
  'kind',
  'settings',
  'disabled',
  'made_at',
  'silent_since',
  'silent_reported',
  'doubted_since',
] as const

export const providersOf = (db: Kysely<CloudTables>, org: OrgId): Promise<IdentityProviderRow[]> =>
  db
    .selectFrom('identity_provider')
    .select(columns)
    .where('org', '=', org)
    .orderBy('name')
    .execute()

export const findProvider = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<IdentityProviderRow | undefined> =>
  db.selectFrom('identity_provider').select(columns).where('id', '=', id).executeTakeFirst()

/** With the encrypted secret, which tenants cannot read. */
export const readSealed = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<Selectable<CloudTables['identity_provider']>> =>
  db
    .selectFrom('identity_provider')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow(deletedMeanwhile)

/** Another request was faster. */
const deletedMeanwhile = (): Fault =>
  new Fault('not-found', 'the identity server was deleted meanwhile')

export const groupRolesOf = (
  db: Kysely<CloudTables>,
  { org, id }: Pick<IdentityProviderRow, 'org' | 'id'>,
): Promise<GroupRole[]> =>
  db
    .selectFrom('group_role')
    .select(['name', 'role'])
    .where('org', '=', org)
    .where('provider', '=', id)
    .orderBy('name')
    .execute()

/** With the rights that the roles have now. */
export async function rankedGroupRolesOf(
  db: Kysely<CloudTables>,
  { org, id }: Pick<IdentityProviderRow, 'org' | 'id'>,
): Promise<RankedGroupRole[]> {
  const rows = await db
    .selectFrom('group_role')
    .leftJoin('org_role', (join) =>
      join
        .onRef('org_role.org', '=', 'group_role.org')
        .onRef('org_role.name', '=', 'group_role.own_role'),
    )
    .select(['group_role.name', 'group_role.role', 'org_role.permissions'])
    .where('group_role.org', '=', org)
    .where('group_role.provider', '=', id)
    .execute()
  return rows.map(({ name, role, permissions }) => ({ name, ...rightsOf(role, permissions) }))
}

export const wholeProvider = async (
  db: Kysely<CloudTables>,
  provider: IdentityProviderRow,
): Promise<WholeProvider> => ({ provider, groups: await groupRolesOf(db, provider) })

/** What the secret is encrypted for. Neither ever changes. */
const aboutSecret = (org: OrgId, name: string): string => `identity provider ${org}/${name}`

type SealedRow = Selectable<CloudTables['identity_provider']>
type OpenSeal = (sealed: Buffer, about: string) => string

/** Decrypts the password of the reader. */
export function accessTo(row: SealedRow, open: OpenSeal): DirectoryAccess {
  const { org, name, sealed } = row
  const { kind, settings } = settingsOf(row)
  if (kind !== 'ldap') throw new TypeError(`identity server ${name} is no directory`)
  return { name, settings, secret: open(sealed, aboutSecret(org, name)) }
}

/** Decrypts the secret of this cloud at an OpenID Connect server. */
export function openIdAccessTo(row: SealedRow, open: OpenSeal): OpenIdAccess {
  const { org, id, name, sealed } = row
  const { kind, settings } = settingsOf(row)
  if (kind !== 'oidc') throw new TypeError(`identity server ${name} is no OpenID Connect server`)
  return { id, name, settings, secret: open(sealed, aboutSecret(org, name)) }
}

export interface NewProvider {
  readonly name: string
  readonly how: IdentitySettings
  readonly secret: string
  readonly enabled: boolean
  readonly groups: readonly GroupRole[]
}

type CloseSeal = (text: string, about: string) => Buffer

export async function addProvider(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  { name, how, secret, enabled, groups }: NewProvider,
  close: CloseSeal,
): Promise<WholeProvider> {
  if (enabled) await requireRoom(tx, org)
  const made = await orConflict(`identity server ${name} already exists`, () =>
    tx
      .insertInto('identity_provider')
      .values({
        org,
        name,
        kind: how.kind,
        settings: JSON.stringify(how.settings),
        sealed: close(secret, aboutSecret(org, name)),
        disabled: !enabled,
      })
      .returning(columns)
      .executeTakeFirstOrThrow(),
  )
  await emitEvent(tx, { kind: 'provider.added', org, details: { ...by(principal), name } })
  await requireChangeable(tx, principal, org, groups)
  await writeRows(tx, principal, made, groups)
  return { provider: made, groups }
}

/** Counted under the organisation's lock, so that concurrent requests are counted one after the other. */
async function requireRoom(tx: Tx, org: OrgId): Promise<void> {
  await sql`select 1 from org where id = ${org} for no key update`.execute(tx)
  const enabledOnes = (await providersOf(tx, org)).filter(({ disabled }) => !disabled)
  if (enabledOnes.length >= MOST) {
    throw new Fault('conflict', `an organisation can have at most ${MOST} enabled identity servers`)
  }
}

export interface ProviderChange {
  readonly how: IdentitySettings
  readonly enabled: boolean | undefined
  /** undefined: as it was. */
  readonly secret: string | undefined
}

/** Replaces the settings. The secret stays if it is missing, unless it would be sent to another server, or as another one. */
export async function changeProvider(
  tx: Tx,
  principal: Principal,
  row: IdentityProviderRow,
  { how, enabled, secret }: ProviderChange,
  close: CloseSeal,
): Promise<WholeProvider> {
  const { org, id, name } = row
  if (how.kind !== row.kind) throw new Fault('invalid', `the kind of ${name} stays ${row.kind}`)
  if (secret === undefined && recipientOf(settingsOf(row)) !== recipientOf(how)) {
    throw new Fault('invalid', 'with another Url, Reader, Client or Ca, Password is needed')
  }
  if (row.disabled && enabled === true) await requireRoom(tx, org)
  const provider = await tx
    .updateTable('identity_provider')
    .set({
      settings: JSON.stringify(how.settings),
      ...(secret !== undefined && { sealed: close(secret, aboutSecret(org, name)) }),
      ...(enabled !== undefined && { disabled: !enabled }),
    })
    .where('org', '=', org)
    .where('id', '=', id)
    .returning(columns)
    .executeTakeFirstOrThrow(deletedMeanwhile)
  const details = { ...by(principal), name, ...(enabled !== undefined && { disabled: !enabled }) }
  await emitEvent(tx, { kind: 'provider.changed', org, details })
  return wholeProvider(tx, provider)
}

/** Where the secret is sent, and as whose. */
const recipientOf = ({ kind, settings }: IdentitySettings): string =>
  kind === 'ldap'
    ? JSON.stringify([settings.urls, settings.startTls, settings.reader, settings.ca])
    : JSON.stringify([settings.issuer, settings.client, settings.ca])

export async function deleteProvider(
  tx: Tx,
  principal: Principal,
  { org, id, name }: IdentityProviderRow,
): Promise<void> {
  const { rows } = await sql<{ accounts: number }>`select count(*)::integer as accounts from account
    where org = ${org} and provider = ${id}`.execute(tx)
  const accounts = rows[0]?.accounts ?? 0
  if (accounts > 0) {
    throw new Fault('conflict', `${accounts} users log in with identity server ${name}`, {
      hint: 'disable the identity server, or remove these users first: skerry admin user rm USER@ORG',
    })
  }
  await orConflict(`users log in with identity server ${name}`, () =>
    tx
      .deleteFrom('identity_provider')
      .where('org', '=', org)
      .where('id', '=', id)
      .returning('id')
      .executeTakeFirstOrThrow(deletedMeanwhile),
  )
  await emitEvent(tx, { kind: 'provider.removed', org, details: { ...by(principal), name } })
}

/** Replaces the list. It takes effect at the next login of each person, and at the next pass. */
export async function writeGroupRoles(
  tx: Tx,
  principal: Principal,
  row: IdentityProviderRow,
  groups: readonly GroupRole[],
): Promise<WholeProvider> {
  const before = await groupRolesOf(tx, row)
  if (principal.role !== SYSTEM_ROLE && before.some(({ role }) => role === SYSTEM_ROLE)) {
    throw new Fault('forbidden', `only a ${SYSTEM_ROLE} can change groups that have this role`)
  }
  await requireChangeable(tx, principal, row.org, changesOf(before, groups))
  // A group that stays keeps its people and its shares.
  const kept = groups.map(({ name }) => name)
  await tx
    .deleteFrom('group_role')
    .where('org', '=', row.org)
    .where('provider', '=', row.id)
    .$if(kept.length > 0, (query) => query.where('name', 'not in', kept))
    .execute()
  await writeRows(tx, principal, row, groups)
  const details = { ...by(principal), name: row.name, groups }
  await emitEvent(tx, { kind: 'provider.changed', org: row.org, details })
  return wholeProvider(tx, row)
}

/** The groups that have another role, or none, before or after. */
const changesOf = (
  before: readonly GroupRole[],
  after: readonly GroupRole[],
): readonly GroupRole[] => {
  const isIn = (all: readonly GroupRole[], { name, role }: GroupRole): boolean =>
    all.some((each) => each.name === name && each.role === role)
  return [
    ...before.filter((each) => !isIn(after, each)),
    ...after.filter((each) => !isIn(before, each)),
  ]
}

/** No one gives a group a role that has more rights than their own, or takes one away. */
async function requireChangeable(
  tx: Tx,
  principal: Principal,
  org: OrgId,
  changed: readonly GroupRole[],
): Promise<void> {
  for (const role of new Set(changed.map((each) => each.role))) {
    if (role !== SYSTEM_ROLE) await requireRole(tx, principal, org, role)
  }
}

/** Only a system administrator can give the role of one to a group, and only in the organisation System. */
async function writeRows(
  tx: Tx,
  principal: Principal,
  { org, id }: IdentityProviderRow,
  groups: readonly GroupRole[],
): Promise<void> {
  if (groups.some(({ role }) => role === SYSTEM_ROLE)) {
    const { rows } = await sql<{ name: string }>`select name from org where id = ${org}`.execute(tx)
    if (principal.role !== SYSTEM_ROLE || rows[0]?.name !== SYSTEM) {
      throw new Fault(
        'forbidden',
        `only a system administrator can give the role ${SYSTEM_ROLE} to a group, and only in ${SYSTEM}`,
      )
    }
  }
  if (groups.length === 0) return
  await orConflict('the identity server was changed or deleted meanwhile', () =>
    tx
      .insertInto('group_role')
      .values(groups.map(({ name, role }) => ({ org, provider: id, name, role })))
      .onConflict((conflict) =>
        conflict
          .columns(['org', 'provider', 'name'])
          .doUpdateSet((row) => ({ role: row.ref('excluded.role') })),
      )
      .execute(),
  )
}
