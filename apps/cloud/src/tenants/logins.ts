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
  /** The name of the identity server that the browser came from. */
  readonly via?: string | undefined
  /** The name of the passkey that was shown instead. */
  readonly passkey?: string | undefined
  /** Why a directory refuses the user, if it names a reason. */
  readonly why?: string | undefined
}

interface NewSession {
  readonly hash: Buffer
  readonly org: OrgId
  readonly account: UserId
  /** The id of the API token that it begins with, and ends with. */
  readonly accessToken?: string | undefined
  /** The identity server that the browser came from, and its name for its own session. */
  readonly from?: { readonly provider: string; readonly sid: string | undefined } | undefined
}

const details = ({ token, via, passkey, why, ...came }: LoginOrigin) =>
  sql`${JSON.stringify({
    ...by(came),
    ...(token !== undefined && { token }),
    ...(via !== undefined && { via }),
    ...(passkey !== undefined && { passkey }),
    ...(why !== undefined && { why }),
  })}::jsonb`

/** Starts a session: the token is valid from now on. The session and its event are written together or not at all. */
export async function beginSession(
  db: Kysely<CloudTables>,
  { hash, org, account, accessToken, from }: NewSession,
  came: LoginOrigin,
): Promise<void> {
  await sql`with begun as (
      insert into session (token_hash, org, account, access_token, provider, sid)
      values (${hash}, ${org}, ${account}, ${accessToken ?? null}, ${from?.provider ?? null}, ${from?.sid ?? null})
      returning org)
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
 * Ends sessions that came from an identity server: that of one login there, or all of a person. A token that is replayed ends none that
 * began later. Returns their number.
 */
export async function endSessionsFrom(
  db: Kysely<CloudTables>,
  provider: { readonly org: OrgId; readonly id: string; readonly name: string },
  {
    sid,
    sub,
    at,
  }: { readonly sid: string | undefined; readonly sub: string | undefined; readonly at: Date },
): Promise<number> {
  const { rows } = await sql`with ended as (
      delete from session using account
      where session.provider = ${provider.id} and session.org = ${provider.org}
        and account.org = session.org and account.id = session.account
        and (${sid ?? null}::text is null or session.sid = ${sid ?? null})
        and (${sub ?? null}::text is null or account.subject = ${sub ?? null})
        and session.began_at < ${at}::timestamptz + interval '1 min'
      returning session.org, account.name)
    insert into event (kind, org, details)
    select 'session.ended', org, jsonb_build_object('by', name, 'via', ${provider.name}::text) from ended
    returning 1`.execute(db)
  return rows.length
}

/**
 * Emits an event for a wrong password in the organisation of the account. Unknown names emit none: their number is unlimited,
 * while attempts on an account end when it is blocked. The statement runs for both, so that both take equally long.
 */
export async function emitRefusedLogin(
  db: Kysely<CloudTables>,
  { user, org, address, why }: LoginOrigin & { readonly org: string },
): Promise<void> {
  await sql`insert into event (kind, org, details)
    select 'session.refused', account.org, ${details({ user, address, why })}
    from account join org on org.id = account.org
    where org.name = ${org} and account.name = ${user}`.execute(db)
}
