// What an operator sees and does that no user of the API does: of all organisations at once, without being one of their users.
import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Role } from '../identity/roles.ts'
import type { Tx } from '../world.ts'
import type { AccessTokenRow } from './access-tokens.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'
import type { AccountRow } from './tenants.ts'

export interface ListedOrg {
  readonly id: OrgId
  readonly name: string
  readonly enabled: boolean
  readonly users: number
  readonly vms: number
}

export async function listOrgs(db: Kysely<Database>): Promise<ListedOrg[]> {
  const { rows } = await sql<ListedOrg>`
    select id, name, not disabled as enabled,
      (select count(*)::integer from account where account.org = org.id) as users,
      (select count(*)::integer from vm where vm.org = org.id and deleted_at is null) as vms
    from org order by name`.execute(db)
  return rows
}

export interface ListedAccount {
  readonly id: UserId
  readonly user: string
  readonly org: string
  readonly role: Role
  readonly enabled: boolean
  readonly sessions: number
  readonly tokens: number
}

/** Of one organisation, or of all. */
export async function listAccounts(db: Kysely<Database>, of?: OrgId): Promise<ListedAccount[]> {
  const { rows } = await sql<ListedAccount>`
    select account.id, account.name as user, org.name as org, role, not account.disabled as enabled,
      (select count(*)::integer from session where session.account = account.id) as sessions,
      (select count(*)::integer from access_token where access_token.account = account.id) as tokens
    from account join org on org.id = account.org
    where ${of ?? null}::uuid is null or account.org = ${of ?? null}::uuid
    order by org.name, account.name`.execute(db)
  return rows
}

export interface ListedTemplate {
  readonly id: string
  readonly name: string
  readonly org: string
  readonly cpus: number
  readonly memoryMiB: number
  readonly diskMiB: number
}

/** Of one organisation, or of all. */
export async function listTemplates(db: Kysely<Database>, of?: OrgId): Promise<ListedTemplate[]> {
  const { rows } = await sql<ListedTemplate>`
    select template.id, template.name, org.name as org, cpus, memory_mib as "memoryMiB", disk_mib as "diskMiB"
    from template join org on org.id = template.org
    where ${of ?? null}::uuid is null or template.org = ${of ?? null}::uuid
    order by org.name, template.name`.execute(db)
  return rows
}

/** Whoever would be left could not be helped by anybody. */
export async function requireAnother(tx: Tx, { id, role }: AccountRow): Promise<void> {
  if (role !== 'system administrator') return
  // Under a lock: two who go at the same moment each see that the other goes.
  const { rows } = await sql<{ id: UserId }>`
    select id from account where role = ${role} and not disabled order by id for update`.execute(tx)
  if (rows.some((each) => each.id !== id)) return
  throw new Fault('conflict', 'this is the last system administrator', {
    hint: 'make another one first: skerry cloud user add NAME@System --role "system administrator"',
  })
}

/** With all sessions and tokens; what the user made stays, under the same name. */
export async function removeAccount(tx: Tx, by: string, row: AccountRow): Promise<void> {
  await requireAnother(tx, row)
  await tx.deleteFrom('account').where('org', '=', row.org).where('id', '=', row.id).execute()
  await tell(tx, { kind: 'user.removed', org: row.org, what: { by, user: row.name } })
}

export const tokensOf = (
  db: Kysely<Database>,
  { org, id }: Pick<AccountRow, 'org' | 'id'>,
): Promise<AccessTokenRow[]> =>
  db
    .selectFrom('access_token')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', id)
    .orderBy('name')
    .execute()
