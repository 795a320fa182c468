// With whom a vApp or a catalog is shared, as those who share it see and change it.
import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql } from 'kysely'

import { by, emitEvents, type NewEvent } from '../database/events.ts'
import type { Tx } from '../database/tables.ts'
import { requireRightsHere, type Principal } from '../domain/authorize.ts'
import type { VappId } from '../domain/ids.ts'
import { sharesOn, shareRights, type SharedKind, type ShareLevel } from '../domain/shares.ts'
import { orConflict } from '../tenants/accounts.ts'

export type SharedObject =
  | { readonly kind: 'vapp'; readonly org: OrgId; readonly id: VappId; readonly name: string }
  | { readonly kind: 'catalog'; readonly org: OrgId; readonly id: string; readonly name: string }

/** With whom it is shared. */
export type SharingSubject =
  | { readonly type: 'everyone' }
  | { readonly type: 'user'; readonly account: UserId; readonly name: string }
  | {
      readonly type: 'group'
      readonly provider: string
      readonly providerName: string
      readonly name: string
    }
export interface AccessEntry {
  readonly subject: SharingSubject
  readonly level: ShareLevel
}

/** As it is written: a user by name or id. */
export interface NamedEntry {
  readonly subject:
    | { readonly type: 'everyone' }
    | { readonly type: 'user'; readonly name?: string; readonly id?: string }
    | { readonly type: 'group'; readonly provider: string; readonly name: string }
  readonly level: ShareLevel
}

interface ShareRow {
  readonly account: UserId | null
  readonly userName: string | null
  readonly provider: string | null
  readonly providerName: string | null
  readonly groupName: string | null
  readonly level: ShareLevel
}

const columnOf = { vapp: sql`share.vapp`, catalog: sql`share.catalog` } as const

/** Everyone first, then users and groups by name. */
export async function readAccessList(
  tx: Tx,
  { kind, org, id }: Pick<SharedObject, 'kind' | 'org' | 'id'>,
): Promise<readonly AccessEntry[]> {
  const { rows } = await sql<ShareRow>`
    select share.account, account.name as "userName", share.provider, share.group_name as "groupName",
      identity_provider.name as "providerName", share.level
    from share
      left join account on account.org = share.org and account.id = share.account
      left join identity_provider on identity_provider.org = share.org and identity_provider.id = share.provider
    where share.org = ${org} and ${columnOf[kind]} = ${id}
    order by share.account is not null or share.provider is not null, share.provider is not null,
      coalesce(account.name, share.group_name) collate "C", identity_provider.name collate "C"`.execute(
    tx,
  )
  return rows.map((row) => ({ subject: subjectOf(row), level: row.level }))
}

function subjectOf({
  account,
  userName,
  provider,
  providerName,
  groupName,
}: ShareRow): SharingSubject {
  if (account !== null) return { type: 'user', account, name: userName ?? '' }
  if (provider === null) return { type: 'everyone' }
  return { type: 'group', provider, providerName: providerName ?? '', name: groupName ?? '' }
}

/** Whose entry it is. */
const keyOf = (subject: SharingSubject): string =>
  subject.type === 'everyone'
    ? 'everyone'
    : subject.type === 'user'
      ? `user ${subject.account}`
      : `group ${subject.provider} ${subject.name}`

const shownAs = (subject: SharingSubject): string =>
  subject.type === 'everyone'
    ? 'everyone'
    : subject.type === 'user'
      ? `user ${subject.name}`
      : `group ${subject.name} of ${subject.providerName}`

/**
 * Replaces the list. Of what changes, what it was and what it becomes must be rights that the caller has there: no one gives a right
 * that they lack, or takes one away.
 */
export async function writeAccessList(
  tx: Tx,
  principal: Principal,
  object: SharedObject,
  named: readonly NamedEntry[],
): Promise<readonly AccessEntry[]> {
  const { kind, org, id } = object
  requireSharesOn(principal)
  await sql`select pg_advisory_xact_lock(hashtext('shares'), hashtext(${id}::text))`.execute(tx)
  const before = new Map(
    (await readAccessList(tx, object)).map((each) => [keyOf(each.subject), each]),
  )
  const after = new Map<string, AccessEntry>()
  for (const { subject, level } of named) {
    const entry = { subject: await resolveSubject(tx, org, subject), level }
    const key = keyOf(entry.subject)
    if (after.has(key)) {
      throw new Fault('invalid', `${shownAs(entry.subject)} is in the list twice`)
    }
    after.set(key, entry)
  }
  const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
    (key) => before.get(key)?.level !== after.get(key)?.level,
  )
  requireLevels(
    principal,
    kind,
    changed.flatMap((key) =>
      [before.get(key), after.get(key)].flatMap((each) => each?.level ?? []),
    ),
  )
  await writeRows(tx, object, [...before.values()], after, changed)
  await emitEvents(
    tx,
    changed.map((key) => eventOf(principal, object, before.get(key), after.get(key))),
  )
  return readAccessList(tx, object)
}

function requireSharesOn(principal: Principal): void {
  if (sharesOn(principal, principal.there)) return
  throw new Fault('forbidden', NOT_SHARED_ON, {
    hint: 'ask for FullControl, or ask who shared it with you',
  })
}
/** Why who may change it may not share it. */
export const NOT_SHARED_ON = 'sharing it needs the level FullControl here'

function requireLevels(principal: Principal, kind: SharedKind, given: readonly ShareLevel[]): void {
  for (const level of new Set(given)) {
    requireRightsHere(principal, `the level ${level}`, shareRights[kind][level])
  }
}

async function writeRows(
  tx: Tx,
  { kind, org, id }: SharedObject,
  before: readonly AccessEntry[],
  after: ReadonlyMap<string, AccessEntry>,
  changed: readonly string[],
): Promise<void> {
  for (const { subject } of before.filter((each) => changed.includes(keyOf(each.subject)))) {
    const columns = columnsOf(subject)
    await sql`delete from share where share.org = ${org} and ${columnOf[kind]} = ${id}
      and share.account is not distinct from ${columns.account}::uuid
      and share.provider is not distinct from ${columns.provider}::uuid
      and share.group_name is not distinct from ${columns.group_name}::text`.execute(tx)
  }
  const rows = changed.flatMap((key) => after.get(key) ?? [])
  if (rows.length === 0) return
  await orConflict('a user or a group of the list was removed meanwhile', () =>
    tx
      .insertInto('share')
      .values(
        rows.map(({ subject, level }) => ({
          org,
          vapp: kind === 'vapp' ? id : null,
          catalog: kind === 'catalog' ? id : null,
          ...columnsOf(subject),
          level,
        })),
      )
      .execute(),
  )
}

const columnsOf = (subject: SharingSubject) => ({
  account: subject.type === 'user' ? subject.account : null,
  provider: subject.type === 'group' ? subject.provider : null,
  group_name: subject.type === 'group' ? subject.name : null,
})

function eventOf(
  principal: Principal,
  object: SharedObject,
  before: AccessEntry | undefined,
  after: AccessEntry | undefined,
): NewEvent {
  const { org, kind, name } = object
  const subject = (after ?? before)?.subject ?? { type: 'everyone' }
  const details = {
    ...by(principal),
    name,
    type: subject.type,
    ...(subject.type === 'user' && { user: subject.name }),
    ...(subject.type === 'group' && { group: subject.name, provider: subject.providerName }),
    ...(after ? { level: after.level } : { removed: true }),
    ...(before && { before: before.level }),
  }
  return kind === 'vapp'
    ? { kind: 'vapp.shared', vm: { org, id: null, vapp: object.id }, details }
    : { kind: 'catalog.shared', org, details }
}

/** Of the object's own organisation only; an unknown one, and one of another organisation, look the same. */
async function resolveSubject(
  tx: Tx,
  org: OrgId,
  subject: NamedEntry['subject'],
): Promise<SharingSubject> {
  if (subject.type === 'everyone') return subject
  if (subject.type === 'group') {
    const found = await tx
      .selectFrom('group_role')
      .innerJoin('identity_provider', (join) =>
        join
          .onRef('identity_provider.org', '=', 'group_role.org')
          .onRef('identity_provider.id', '=', 'group_role.provider'),
      )
      .select(['group_role.provider', 'group_role.name'])
      .where('group_role.org', '=', org)
      .where('group_role.name', '=', subject.name)
      .where('identity_provider.name', '=', subject.provider)
      .executeTakeFirst()
    if (found) return { type: 'group', ...found, providerName: subject.provider }
    throw new Fault(
      'invalid',
      `no group ${subject.name} of ${subject.provider} has a role in this organisation`,
      { hint: 'give it one first: skerry identity set NAME --group GROUP=ROLE' },
    )
  }
  const { id, name = '' } = subject
  const found = await tx
    .selectFrom('account')
    .select(['id', 'name'])
    .where('org', '=', org)
    .$if(id !== undefined, (query) => query.where('id', '=', (id ?? '') as UserId))
    .$if(id === undefined, (query) => query.where('name', '=', name))
    .executeTakeFirst()
  if (found) return { type: 'user', account: found.id, name: found.name }
  const called = name === '' ? (id ?? '') : name
  throw new Fault('invalid', `there is no user ${called} in this organisation`, {
    hint: 'a user who was removed and created again is another one: name the user without href',
  })
}
