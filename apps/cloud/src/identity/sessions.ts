import { createHash } from 'node:crypto'

import { sql, type Kysely } from 'kysely'

import type { Credentials } from '../http/basic.ts'
import type { Database } from '../store/database.ts'
import { beginSession } from '../store/logins.ts'
import type { Who } from './authorize.ts'
import type { CheckCredentials } from './credentials.ts'

export interface Sessions {
  logIn(
    credentials: Credentials,
    address: string,
  ): Promise<{ readonly who: Who; readonly token: string }>
  find(token: string): Promise<Who | undefined>
}

/** Idle this long, or alive this long in all, a token is worth nothing. */
export const IDLE = sql`interval '30 min'`
export const LIFE = sql`interval '24 h'`
/** That a token was used is written down this often at most: a write for each request would make all of a user's wait for each other. */
export const NOTED = sql`interval '1 min'`

/** By this one sees what it is: also whoever finds one where it should not be. */
export const ACCESS_TOKEN = 'skat_'

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Tokens are kept as hashes: who reads the table cannot log in with it. */
export function makeSessions(
  db: Kysely<Database>,
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
      return { token, who: { user, account: id, org, orgName, role, address } }
    },
    async find(token) {
      if (token.startsWith(ACCESS_TOKEN)) return findByAccessToken(db, token)
      const hash = hashToken(token)
      const { rows } = await sql<Who & { noted: boolean }>`
        select account.name as user, account.id as account, account.org as org, org.name as "orgName",
          account.role as role, session.seen_at > clock_timestamp() - ${NOTED} as noted
        from session join account on account.org = session.org and account.id = session.account
          join org on org.id = session.org
        where token_hash = ${hash} and session.seen_at > clock_timestamp() - ${IDLE}
          and session.began_at > clock_timestamp() - ${LIFE} and not account.disabled
          and not org.disabled`.execute(db)
      const [found] = rows
      if (!found) return undefined
      const { noted, ...who } = found
      if (!noted) {
        await sql`update session set seen_at = clock_timestamp() where token_hash = ${hash}`.execute(
          db,
        )
      }
      return who
    },
  }
}

/** Worth what its user is worth now. When it was last used is kept to the minute: a script asks often. */
async function findByAccessToken(db: Kysely<Database>, token: string): Promise<Who | undefined> {
  const { rows } = await sql<Who & { id: string; stale: boolean }>`
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
  const { id, stale, ...who } = found
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${id}`.execute(db)
  }
  return { ...who, script: true }
}
