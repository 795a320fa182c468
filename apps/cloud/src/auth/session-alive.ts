import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { OWN_RIGHTS, withRights, type RowWithRole } from '../database/role-rights.ts'
import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { isSameRole, type RoleRights } from '../domain/roles.ts'
import { ACCESS_TOKEN, hashToken, NOTED, UNEXPIRED } from './access-token.ts'
import { IDLE, LACKS_SECOND_FACTOR, LIFE } from './sessions.ts'

/** The account behind a token, with its current role. */
export interface CurrentAccount extends RoleRights {
  readonly account: UserId
  readonly org: OrgId
}

type FoundAccount = Omit<CurrentAccount, 'rights'> &
  RowWithRole & { readonly hash: Buffer; readonly stale: boolean }

/**
 * Looks up the accounts behind these tokens; an invalid token is missing in the result. Used for long-lived responses: an open one
 * counts as activity of its session, which is recorded once a minute.
 */
export async function readPrincipals(
  db: Kysely<CloudTables>,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, CurrentAccount>> {
  const byHash = new Map(tokens.map((token) => [hashToken(token).toString('hex'), token]))
  const ofScripts = [...byHash].filter(([, token]) => token.startsWith(ACCESS_TOKEN))
  const ofSessions = [...byHash].filter(([, token]) => !token.startsWith(ACCESS_TOKEN))
  const hashes = (of: readonly (readonly [string, string])[]) =>
    of.map(([hash]) => Buffer.from(hash, 'hex'))
  const { rows } = await sql<FoundAccount>`
    select session.token_hash as hash, account.id as account, account.org as org, account.role as role,
      ${OWN_RIGHTS} as own, session.seen_at < clock_timestamp() - ${NOTED} as stale
    from session join account on account.org = session.org and account.id = session.account
      join org on org.id = session.org
      left join access_token on access_token.org = session.org and access_token.id = session.access_token
    where session.token_hash = any(${hashes(ofSessions)}::bytea[]) and not account.disabled
      and not account.lapsed and not org.disabled
      and session.seen_at > clock_timestamp() - ${IDLE}
      and session.began_at > clock_timestamp() - ${LIFE} and ${UNEXPIRED} and not ${LACKS_SECOND_FACTOR}
    union all
    select token_hash, account.id, account.org, account.role, ${OWN_RIGHTS}, false
    from access_token
      join account on account.org = access_token.org and account.id = access_token.account
      join org on org.id = access_token.org
    where token_hash = any(${hashes(ofScripts)}::bytea[]) and not account.disabled
      and not account.lapsed and not org.disabled and ${UNEXPIRED}`.execute(db)
  const stale = rows.filter((row) => row.stale).map(({ hash }) => hash)
  if (stale.length > 0) {
    await sql`update session set seen_at = clock_timestamp()
      where token_hash = any(${stale}::bytea[])`.execute(db)
  }
  return new Map(
    rows.map((row) => {
      const { hash, account, org, role, rights } = withRights(row)
      return [byHash.get(hash.toString('hex')) ?? '', { account, org, role, rights }]
    }),
  )
}

/** Whether a long-lived response for `who` may continue: after a change of rights, the client must connect again. */
export const isSamePrincipal = (principal: Principal, now: CurrentAccount | undefined): boolean =>
  now !== undefined &&
  now.account === principal.account &&
  now.org === principal.org &&
  isSameRole(now, principal)
