// The passkeys of accounts, as logins find and use them.
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { FactorOwner } from './factor-owner.ts'
import type { ShownPasskey } from './passkey-answer.ts'

export interface FoundPasskey extends FactorOwner {
  readonly id: string
  /** The names of the passkey and of its user. */
  readonly name: string
  readonly user: string
  readonly publicKey: Buffer
  /** Its user may not log in. */
  readonly isBarred: boolean
}

/** What authenticators store as the user of a passkey: ids, and nothing of the person. */
export const handleOf = ({ org, account }: FactorOwner): Buffer =>
  Buffer.from(`${org}${account}`.replaceAll('-', ''), 'hex')

const UUID_BYTES = 16

/** undefined: it is none of ours. */
export function ownerIn(handle: Buffer): FactorOwner | undefined {
  if (handle.length !== 2 * UUID_BYTES) return undefined
  const org = handle.toString('hex', 0, UUID_BYTES)
  const account = handle.toString('hex', UUID_BYTES)
  return { org: org as OrgId, account: account as UserId }
}

/** By its user and its name: the same name elsewhere is another passkey. */
export async function findPasskey(
  db: Kysely<CloudTables>,
  { user, credential }: Pick<ShownPasskey, 'user' | 'credential'>,
): Promise<FoundPasskey | undefined> {
  const owner = ownerIn(user)
  if (!owner) return undefined
  const { rows } = await sql<FoundPasskey>`
    select factor.org, factor.account, factor.id, factor.name, factor.public_key as "publicKey", account.name as "user",
      account.disabled or account.lapsed or org.disabled or account.provider is not null or account.password is null
        as "isBarred"
    from second_factor factor
      join account on account.org = factor.org and account.id = factor.account
      join org on org.id = factor.org
    where factor.org = ${owner.org}::uuid and factor.account = ${owner.account}::uuid
      and factor.credential = ${credential} and factor.kind = 'passkey' and factor.confirmed`.execute(
    db,
  )
  return rows[0]
}

/**
 * Notes a use. False if the counter has not gone on, so that there may be a copy of the passkey, or if the passkey was removed meanwhile.
 * Passkeys that are on several devices do not count, and say 0.
 */
export async function countUse(
  db: Kysely<CloudTables>,
  { org, id }: FoundPasskey,
  counter: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('second_factor')
    .set({ counter: String(counter), used_at: sql<Date>`clock_timestamp()` })
    .where('org', '=', org)
    .where('id', '=', id)
    .where(sql<boolean>`(counter < ${counter}::bigint or (counter = 0 and ${counter}::bigint = 0))`)
    .executeTakeFirst()
  return numUpdatedRows === 1n
}

/** What the authenticators of a user call the passkeys that they have: none is made twice. */
export async function credentialsOf(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
): Promise<readonly Buffer[]> {
  const rows = await db
    .selectFrom('second_factor')
    .select('credential')
    .where('org', '=', org)
    .where('account', '=', account)
    .where('kind', '=', 'passkey')
    .execute()
  return rows.flatMap(({ credential }) => credential ?? [])
}
