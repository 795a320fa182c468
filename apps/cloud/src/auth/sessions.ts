import { hash as hashOnce } from 'node:crypto'

import { type BasicCredentials } from '@skerry/service'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import { beginSession } from '../tenants/logins.ts'
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
/** The last use of a token is stored at most this often: a write for each request would make a user's requests wait for each other. */
export const NOTED = sql`interval '1 min'`

/** The prefix of API tokens, which also identifies a leaked one. */
export const ACCESS_TOKEN = 'skat_'

export const hashToken = (token: string): Buffer => hashOnce('sha256', token, 'buffer')

/** Tokens are stored as hashes: a reader of the table cannot log in with them. */
export function makeSessions(
  db: Kysely<CloudTables>,
  secret: () => string,
  check: CheckCredentials,
): Sessions {
  return {
    async logIn(credentials, address) {
      const { id, role, org } = await check(credentials, address)
      const token = secret()
      const { user, org: orgName } = credentials
      const hash = hashToken(token)
      await beginSession(db, { hash, org, account: id }, { user, address })
      return { token, principal: { user, account: id, org, orgName, role, address } }
    },
    async find(token) {
      if (token.startsWith(ACCESS_TOKEN)) return findByAccessToken(db, token)
      const hash = hashToken(token)
      const { rows } = await sql<Principal & { noted: boolean }>`
        select account.name as user, account.id as account, account.org as org, org.name as "orgName",
          account.role as role, session.seen_at > clock_timestamp() - ${NOTED} as noted
        from session join account on account.org = session.org and account.id = session.account
          join org on org.id = session.org
        where token_hash = ${hash} and session.seen_at > clock_timestamp() - ${IDLE}
          and session.began_at > clock_timestamp() - ${LIFE} and not account.disabled
          and not org.disabled`.execute(db)
      const [found] = rows
      if (!found) return undefined
      const { noted, ...principal } = found
      if (!noted) {
        await sql`update session set seen_at = clock_timestamp() where token_hash = ${hash}`.execute(
          db,
        )
      }
      return principal
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
    where token_hash = ${hashToken(token)} and not account.disabled and not org.disabled`.execute(
    db,
  )
  const [found] = rows
  if (!found) return undefined
  const { id, stale, ...principal } = found
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${id}`.execute(db)
  }
  return { ...principal, script: true }
}
