import { Fault } from '@skerry/fault'
import { sql, type Kysely, type Selectable } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import { readRights } from '../database/role-rights.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { requireRightsOf, type Principal } from '../domain/authorize.ts'

export type AccessTokenRow = Selectable<CloudTables['access_token']>

/** Per user. A script that needs more does not reuse its tokens. */
const MOST = 20

/** Refuses a caller who authenticated with an API token. `hint`: how to log in instead. */
export function requireLogin({ script }: Principal, hint: string): void {
  if (script === true) {
    throw new Fault('forbidden', 'an API token cannot create other tokens', { hint })
  }
}

type Owner = Pick<Principal, 'org' | 'account'>

const ofUser = (db: Kysely<CloudTables>, { org, account }: Owner) =>
  db
    .selectFrom('access_token')
    .selectAll()
    .where('org', '=', org)
    .where('account', '=', account)
    .orderBy('id')

export const accessTokensOf = (
  db: Kysely<CloudTables>,
  principal: Owner,
): Promise<AccessTokenRow[]> => ofUser(db, principal).execute()

export const findAccessToken = (
  db: Kysely<CloudTables>,
  principal: Principal,
  id: string,
): Promise<AccessTokenRow | undefined> =>
  ofUser(db, principal).where('id', '=', id).executeTakeFirst()

/** Of any user that row-level security lets the caller see. */
export const findTokenById = (
  db: Kysely<CloudTables>,
  id: string,
): Promise<AccessTokenRow | undefined> =>
  db.selectFrom('access_token').selectAll().where('id', '=', id).executeTakeFirst()

export interface NewAccessToken {
  readonly name: string
  /** Days until it expires; undefined: it is valid until it is revoked. */
  readonly days?: number | undefined
  readonly hash: Buffer
}

/** Deletes expired tokens, of one user or of all, with the sessions that began with them. Returns their number. */
export async function dropExpiredTokens(db: Kysely<CloudTables>, of?: Owner): Promise<number> {
  const own = of ? sql`org = ${of.org} and account = ${of.account}` : sql`true`
  const { numAffectedRows = 0n } = await sql`with over as (
      delete from access_token where expires_at <= clock_timestamp() and ${own} returning org, account, name)
    insert into event (kind, org, details)
    select 'token.expired', over.org, jsonb_build_object('user', account.name, 'token', over.name)
    from over join account on account.org = over.org and account.id = over.account`.execute(db)
  return Number(numAffectedRows)
}

export async function addAccessToken(
  tx: Tx,
  principal: Principal,
  { name, days, hash }: NewAccessToken,
): Promise<AccessTokenRow> {
  // Counted under the user's lock, so that concurrent requests are counted one after the other.
  await sql`select 1 from account where org = ${principal.org} and id = ${principal.account} for update`.execute(
    tx,
  )
  await dropExpiredTokens(tx, principal)
  if ((await accessTokensOf(tx, principal)).length >= MOST) {
    throw new Fault('conflict', `a user can have at most ${MOST} API tokens`, {
      hint: 'revoke an unused token',
    })
  }
  const made = await tx
    .insertInto('access_token')
    .values({
      org: principal.org,
      account: principal.account,
      name,
      token_hash: hash,
      ...(days !== undefined && {
        expires_at: sql<Date>`clock_timestamp() + make_interval(days => ${days})`,
      }),
    })
    .onConflict((conflict) => conflict.columns(['org', 'account', 'name']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (!made) {
    throw new Fault('conflict', `token ${name} already exists`, { hint: 'choose another name' })
  }
  await emitEvent(tx, {
    kind: 'token.made',
    org: principal.org,
    details: {
      ...by(principal),
      token: name,
      ...(made.expires_at && { expires: made.expires_at.toISOString() }),
    },
  })
  return made
}

export async function dropAccessToken(
  tx: Tx,
  principal: Principal,
  row: AccessTokenRow,
): Promise<void> {
  const owner = await tx
    .selectFrom('account')
    .select(['name', 'role'])
    .where('org', '=', row.org)
    .where('id', '=', row.account)
    .executeTakeFirst()
  if (owner && row.account !== principal.account) {
    requireRightsOf(principal, await readRights(tx, row.org, owner.role))
  }
  await tx.deleteFrom('access_token').where('org', '=', row.org).where('id', '=', row.id).execute()
  const what = { ...by(principal), user: owner?.name, token: row.name }
  await emitEvent(tx, { kind: 'token.revoked', org: row.org, details: what })
}
