// Queries and changes for operator commands, which bypass the API: over all organisations, without being one of their users.
import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { AccessTokenRow } from './access-tokens.ts'
import type { AccountRow } from './tenants.ts'

export interface ListedOrg {
  readonly id: OrgId
  readonly name: string
  readonly enabled: boolean
  readonly users: number
  readonly vms: number
}

export async function listOrgs(db: Kysely<CloudTables>): Promise<ListedOrg[]> {
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
  readonly role: string
  readonly enabled: boolean
  readonly sessions: number
  readonly tokens: number
}

/** Of one organisation; default: of all. */
export async function listAccounts(db: Kysely<CloudTables>, of?: OrgId): Promise<ListedAccount[]> {
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

/** Of one organisation; default: of all. */
export async function listTemplates(
  db: Kysely<CloudTables>,
  of?: OrgId,
): Promise<ListedTemplate[]> {
  const { rows } = await sql<ListedTemplate>`
    select template.id, template.name, org.name as org, cpus, memory_mib as "memoryMiB", disk_mib as "diskMiB"
    from template join org on org.id = template.org
    where ${of ?? null}::uuid is null or template.org = ${of ?? null}::uuid
    order by org.name, template.name`.execute(db)
  return rows
}

/**
 * Rejects the loss of the last system administrator with a password: no one could create another through the API, or no one could
 * log in while an identity server is away.
 */
export async function requireAnother(tx: Tx, { id, role }: AccountRow): Promise<void> {
  if (role !== 'system administrator') return
  // Under a lock, so that two administrators who are removed at the same time are both counted.
  const { rows } = await sql<{ id: UserId }>`
    select id from account where role = ${role} and not disabled
      and password is not null order by id for update`.execute(tx)
  if (rows.some((each) => each.id !== id)) return
  throw new Fault('conflict', 'this is the last system administrator with a password', {
    hint: 'create another one first: skerry admin user create NAME@System --role "system administrator"',
  })
}

/** Removes the account with all sessions and tokens; resources of the user stay, under the same owner name. */
export async function removeAccount(tx: Tx, by: string, row: AccountRow): Promise<void> {
  await requireAnother(tx, row)
  await tx.deleteFrom('account').where('org', '=', row.org).where('id', '=', row.id).execute()
  await emitEvent(tx, { kind: 'user.removed', org: row.org, details: { by, user: row.name } })
}

export const tokensOf = (
  db: Kysely<CloudTables>,
  { org, id }: Pick<AccountRow, 'org' | 'id'>,
): Promise<AccessTokenRow[]> =>
  db
    .selectFrom('access_token')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', id)
    .orderBy('name')
    .execute()
