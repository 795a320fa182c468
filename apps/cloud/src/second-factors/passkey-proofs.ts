// That a page has shown a passkey of its user, as a code that counts once in place of one that a person types.
import { createHash } from 'node:crypto'

import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { FactorOwner } from './factor-owner.ts'

const LIFE = sql`interval '5 min'`

/** `code`: 256 random bits, as base64url. */
export async function keepPasskeyProof(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
  code: string,
): Promise<void> {
  const hash = createHash('sha256').update(code).digest()
  await db.insertInto('passkey_proof').values({ proof_hash: hash, org, account }).execute()
}

export async function hasPasskeyProof(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
  hash: Buffer,
): Promise<boolean> {
  const found = await db
    .selectFrom('passkey_proof')
    .select('account')
    .where('proof_hash', '=', hash)
    .where('org', '=', org)
    .where('account', '=', account)
    .where('began_at', '>', sql<Date>`clock_timestamp() - ${LIFE}`)
    .executeTakeFirst()
  return found !== undefined
}

export async function takePasskeyProof(
  db: Kysely<CloudTables>,
  { org, account }: FactorOwner,
  hash: Buffer,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('passkey_proof')
    .where('proof_hash', '=', hash)
    .where('org', '=', org)
    .where('account', '=', account)
    .where('began_at', '>', sql<Date>`clock_timestamp() - ${LIFE}`)
    .executeTakeFirst()
  return numDeletedRows === 1n
}
