import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { by, emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'

interface LoginOrigin {
  readonly user: string
  readonly address: string
  /** The name of the API token that was given instead of a password. */
  readonly token?: string | undefined
}

interface NewSession {
  readonly hash: Buffer
  readonly org: OrgId
  readonly account: UserId
  /** The id of the API token that it begins with, and ends with. */
  readonly accessToken?: string | undefined
}

const details = ({ token, ...came }: LoginOrigin) =>
  sql`${JSON.stringify({ ...by(came), ...(token !== undefined && { token }) })}::jsonb`

/** Starts a session: the token is valid from now on. The session and its event are written together or not at all. */
export async function beginSession(
  db: Kysely<CloudTables>,
  { hash, org, account, accessToken }: NewSession,
  came: LoginOrigin,
): Promise<void> {
  await sql`with begun as (
      insert into session (token_hash, org, account, access_token)
      values (${hash}, ${org}, ${account}, ${accessToken ?? null}) returning org)
    insert into event (kind, org, details) select 'session.begun', org, ${details(came)} from begun`.execute(
    db,
  )
}

/** Ends a session: the token is invalid at every cell. */
export async function endSession(tx: Tx, principal: Principal, hash: Buffer): Promise<void> {
  const gone = await tx.deleteFrom('session').where('token_hash', '=', hash).executeTakeFirst()
  // Of two concurrent logouts, only one emits the event.
  if (gone.numDeletedRows > 0n)
    await emitEvent(tx, { kind: 'session.ended', org: principal.org, details: by(principal) })
}

/**
 * Emits an event for a wrong password in the organisation of the account. Unknown names emit none: their number is unlimited,
 * while attempts on an account end when it is blocked. The statement runs for both, so that both take equally long.
 */
export async function emitRefusedLogin(
  db: Kysely<CloudTables>,
  { user, org, address }: LoginOrigin & { readonly org: string },
): Promise<void> {
  await sql`insert into event (kind, org, details)
    select 'session.refused', account.org, ${details({ user, address })}
    from account join org on org.id = account.org
    where org.name = ${org} and account.name = ${user}`.execute(db)
}
