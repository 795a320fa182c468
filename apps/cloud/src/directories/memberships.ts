// Which groups with a role people are in: shares with a group count for them.
import type { OrgId, UserId } from '@skerry/vm'
import { sql } from 'kysely'

import type { Tx } from '../database/tables.ts'

interface Server {
  readonly org: OrgId
  readonly id: string
}

export interface GroupMembership {
  readonly account: UserId
  readonly groups: readonly { readonly name: string }[]
}

/** Stores what the identity server says now of these users. A group whose role is removed meanwhile is left out. */
export async function writeMemberships(
  tx: Tx,
  { org, id }: Server,
  now: readonly GroupMembership[],
): Promise<void> {
  if (now.length === 0) return
  const pairs = now.flatMap(({ account, groups }) => groups.map(({ name }) => ({ account, name })))
  const accounts = pairs.map(({ account }) => account)
  const names = pairs.map(({ name }) => name)
  const all = now.map(({ account }) => account)
  await sql`delete from account_group
    where org = ${org} and account = any(${all}::uuid[]) and not (provider = ${id}
      and (account, name) in (select * from unnest(${accounts}::uuid[], ${names}::text[])))`.execute(
    tx,
  )
  await sql`with there as materialized (
      select name from group_role where org = ${org} and provider = ${id} for key share)
    insert into account_group (org, account, provider, name)
    select ${org}::uuid, said.account, ${id}::uuid, there.name
    from unnest(${accounts}::uuid[], ${names}::text[]) said (account, name)
      join there on there.name = said.name collate "C"
    on conflict do nothing`.execute(tx)
}
