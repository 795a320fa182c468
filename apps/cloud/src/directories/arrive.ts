import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import type { Person } from '../domain/ldap-settings.ts'
import { rankedGroupRolesOf } from './identity-providers.ts'
import { writeMemberships } from './memberships.ts'
import { groupsAmong, roleOf } from './role-of.ts'

/** An account that an identity server has proved. */
export interface ArrivedAccount {
  readonly id: UserId
  readonly org: OrgId
  readonly name: string
  readonly role: string
}

interface Server {
  readonly org: OrgId
  readonly id: string
  readonly name: string
  readonly kind: 'ldap' | 'oidc'
}

interface KnownAccount extends ArrivedAccount {
  readonly disabled: boolean
  readonly lapsed: boolean
}

const NAME_MAX = 128

/** Whether an account can have this name; others cannot log in with Basic credentials. */
const isName = (name: string): boolean =>
  name.length <= NAME_MAX && name.trim() === name && !/[\p{Cc}@:]/u.test(name)

/**
 * The account of a person whom an identity server has proved: found by its subject, or created. undefined: the person has no access,
 * because no group has a role, an administrator has disabled the account, or another account has the name. An account is never taken
 * over by its name. All of it is one transaction; of concurrent first logins, one creates the account.
 */
export const arrive = (
  db: Kysely<CloudTables>,
  server: Server,
  person: Person,
): Promise<ArrivedAccount | undefined> =>
  db.transaction().execute(async (tx) => {
    const given = await rankedGroupRolesOf(tx, server)
    const role = person.enabled ? roleOf(person.groups, given, server.kind) : undefined
    const arrived = await admit(tx, server, person, role)
    if (arrived) {
      const groups = groupsAmong(person.groups, given, server.kind)
      await writeMemberships(tx, server, [{ account: arrived.id, groups }])
    }
    return arrived
  })

async function admit(
  tx: Tx,
  server: Server,
  person: Person,
  role: string | undefined,
): Promise<ArrivedAccount | undefined> {
  const known = await findBySubject(tx, server, person.subject)
  if (known) return update(tx, server, known, { ...person, role })
  if (role === undefined || !isName(person.name)) return undefined
  return create(tx, server, person, role)
}

async function findBySubject(
  tx: Tx,
  { org, id }: Server,
  subject: string,
): Promise<KnownAccount | undefined> {
  const { rows } = await sql<KnownAccount>`select id, org, name, role, disabled, lapsed from account
    where org = ${org} and provider = ${id} and subject = ${subject} for no key update`.execute(tx)
  return rows[0]
}

async function create(
  tx: Tx,
  server: Server,
  { name, subject }: Person,
  role: string,
): Promise<ArrivedAccount | undefined> {
  const { org, id: provider } = server
  const made = await tx
    .insertInto('account')
    .values({
      org,
      name,
      role,
      provider,
      subject,
      proved_at: sql<Date>`clock_timestamp()`,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning(['id', 'org', 'name', 'role'])
    .executeTakeFirst()
  if (made) {
    const details = { by: name, user: name, role, via: server.name }
    await emitEvent(tx, { kind: 'user.added', org, details })
    return made
  }
  // Another login was first, or another account has the name.
  const other = await findBySubject(tx, server, subject)
  return other && !other.disabled ? other : undefined
}

async function update(
  tx: Tx,
  server: Server,
  known: KnownAccount,
  { name, role }: { readonly name: string; readonly role: string | undefined },
): Promise<ArrivedAccount | undefined> {
  if (known.disabled) return undefined
  if (role === undefined) {
    if (!known.lapsed) await lapse(tx, server, [known])
    return undefined
  }
  const renamed = name !== known.name && isName(name) && (await isFree(tx, known.org, name))
  const now = { ...known, role, ...(renamed && { name }) }
  if (known.lapsed) {
    await sql`update account set lapsed = false where org = ${known.org} and id = ${known.id}`.execute(
      tx,
    )
    const details = { user: now.name, via: server.name }
    await emitEvent(tx, { kind: 'user.returned', org: known.org, details })
  }
  if (role !== known.role) await changeRole(tx, server, known, role)
  if (renamed) {
    await sql`update account set name = ${name} where org = ${known.org} and id = ${known.id}`.execute(
      tx,
    )
    const details = { user: known.name, name, via: server.name }
    await emitEvent(tx, { kind: 'user.changed', org: known.org, details })
  }
  await noteProved(tx, known.org, [known.id])
  return { id: now.id, org: now.org, name: now.name, role }
}

async function isFree(tx: Tx, org: OrgId, name: string): Promise<boolean> {
  const { rows } = await sql`select from account where org = ${org} and name = ${name}`.execute(tx)
  return rows.length === 0
}

/** Takes all access of these users away; a trigger ends their sessions, tokens, grants and screens. */
export async function lapse(
  tx: Tx,
  { org, name: via }: Pick<Server, 'org' | 'name'>,
  accounts: readonly Pick<ArrivedAccount, 'id'>[],
): Promise<number> {
  const { rows } = await sql<{ name: string }>`update account set lapsed = true
    where org = ${org} and id = any(${accounts.map(({ id }) => id)}::uuid[]) and not lapsed
    returning name`.execute(tx)
  await sql`delete from account_group
    where org = ${org} and account = any(${accounts.map(({ id }) => id)}::uuid[])`.execute(tx)
  for (const { name } of rows) {
    await emitEvent(tx, { kind: 'user.lapsed', org, details: { user: name, via } })
  }
  return rows.length
}

export async function changeRole(
  tx: Tx,
  { name: via }: Pick<Server, 'name'>,
  { org, id, name }: Pick<ArrivedAccount, 'org' | 'id' | 'name'>,
  role: string,
): Promise<void> {
  await sql`update account set role = ${role} where org = ${org} and id = ${id}`.execute(tx)
  await emitEvent(tx, { kind: 'user.changed', org, details: { user: name, role, via } })
}

/** Stores that the identity server knows these users now, to the minute. */
export async function noteProved(tx: Tx, org: OrgId, ids: readonly UserId[]): Promise<void> {
  await sql`update account set proved_at = clock_timestamp()
    where org = ${org} and id = any(${ids}::uuid[])
      and coalesce(proved_at < clock_timestamp() - interval '1 min', true)`.execute(tx)
}
