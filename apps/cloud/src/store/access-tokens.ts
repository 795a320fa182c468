import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { by, tell } from './events.ts'

export type AccessTokenRow = Selectable<Database['access_token']>

/** Of one user. More than that is a script that forgets to keep what it made. */
const MOST = 20

const ofUser = (db: Kysely<Database>, { org, account }: Who) =>
  db
    .selectFrom('access_token')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', account)
    .orderBy('id')

export const accessTokensOf = (db: Kysely<Database>, who: Who): Promise<AccessTokenRow[]> =>
  ofUser(db, who).execute()

export const findAccessToken = (
  db: Kysely<Database>,
  who: Who,
  id: string,
): Promise<AccessTokenRow | undefined> => ofUser(db, who).where('id', '=', id).executeTakeFirst()

export async function addAccessToken(
  tx: Tx,
  who: Who,
  { name, hash }: { readonly name: string; readonly hash: Buffer },
): Promise<AccessTokenRow> {
  // Counted under the user's lock: two requests at once are still counted one after the other.
  await sql`select 1 from account where org = ${who.org} and id = ${who.account} for update`.execute(
    tx,
  )
  if ((await accessTokensOf(tx, who)).length >= MOST) {
    throw new Fault('conflict', `a user has at most ${MOST} tokens for scripts`, {
      hint: 'revoke one that is no longer used',
    })
  }
  const made = await tx
    .insertInto('access_token')
    .values({ org: who.org, account: who.account, name, token_hash: hash })
    .onConflict((conflict) => conflict.columns(['org', 'account', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!made) {
    throw new Fault('conflict', `there is already a token ${name}`, { hint: 'choose another name' })
  }
  await tell(tx, { kind: 'token.made', org: who.org, what: { ...by(who), token: name } })
  return made
}

export async function dropAccessToken(tx: Tx, who: Who, row: AccessTokenRow): Promise<void> {
  await tx.deleteFrom('access_token').where('org', '=', row.org).where('id', '=', row.id).execute()
  await tell(tx, { kind: 'token.revoked', org: row.org, what: { ...by(who), token: row.name } })
}
