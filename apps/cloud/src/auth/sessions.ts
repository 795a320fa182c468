import { Fault } from '@skerry/fault'
import { brokenConstraint } from '@skerry/postgres'
import { type BasicCredentials } from '@skerry/service'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { beginSession } from '../tenants/logins.ts'
import { ACCESS_TOKEN, hashToken, NOTED, UNEXPIRED } from './access-token.ts'
import type { CheckCredentials } from './credentials.ts'

export interface Sessions {
  logIn(
    credentials: BasicCredentials,
    address: string,
  ): Promise<{ readonly principal: Principal; readonly token: string }>
  find(token: string): Promise<Principal | undefined>
}

/** A token expires after this idle time, or after this total lifetime. */
export const IDLE = sql`interval '30 min'`
export const LIFE = sql`interval '24 h'`
/** Tokens are stored as hashes: a reader of the table cannot log in with them. */
export function makeSessions(
  db: Kysely<CloudTables>,
  secret: () => string,
  check: CheckCredentials,
): Sessions {
  return {
    async logIn(credentials, address) {
      const { id, name: user, role, org, accessToken } = await check(credentials, address)
      const token = secret()
      const orgName = credentials.org
      const begun = { hash: hashToken(token), org, account: id, accessToken: accessToken?.id }
      try {
        await beginSession(db, begun, { user, address, token: accessToken?.name })
      } catch (error) {
        if (brokenConstraint(error) === undefined) throw error
        throw new Fault('unauthenticated', 'the user or the API token was removed meanwhile')
      }
      const principal = { user, account: id, org, orgName, role, address }
      return { token, principal: accessToken ? { ...principal, script: true } : principal }
    },
    async find(token) {
      if (token.startsWith(ACCESS_TOKEN)) return findByAccessToken(db, token)
      const hash = hashToken(token)
      const { rows } = await sql<Omit<Principal, 'script'> & { script: boolean; noted: boolean }>`
        select account.name as user, account.id as account, account.org as org, org.name as "orgName",
          account.role as role, session.access_token is not null as script,
          session.seen_at > clock_timestamp() - ${NOTED} as noted
        from session join account on account.org = session.org and account.id = session.account
          join org on org.id = session.org
          left join access_token on access_token.org = session.org and access_token.id = session.access_token
        where session.token_hash = ${hash} and session.seen_at > clock_timestamp() - ${IDLE}
          and session.began_at > clock_timestamp() - ${LIFE} and not account.disabled
          and not account.lapsed and not org.disabled and ${UNEXPIRED}`.execute(db)
      const [found] = rows
      if (!found) return undefined
      const { noted, script, ...principal } = found
      if (!noted) {
        await sql`update session set seen_at = clock_timestamp() where token_hash = ${hash}`.execute(
          db,
        )
      }
      return script ? { ...principal, script } : principal
    },
  }
}

/** It has the current rights of its user. Its last use is stored to the minute, because scripts send many requests. */
async function findByAccessToken(
  db: Kysely<CloudTables>,
  token: string,
): Promise<Principal | undefined> {
  const { rows } = await sql<Principal & { id: string; stale: boolean }>`
    select account.name as user, account.id as account, account.org as org, org.name as "orgName",
      account.role as role, access_token.id as id,
      coalesce(used_at < clock_timestamp() - ${NOTED}, true) as stale
    from access_token
      join account on account.org = access_token.org and account.id = access_token.account
      join org on org.id = access_token.org
    where token_hash = ${hashToken(token)} and not account.disabled and not account.lapsed
      and not org.disabled and ${UNEXPIRED}`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { id, stale, ...principal } = found
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${id}`.execute(db)
  }
  return { ...principal, script: true }
}
