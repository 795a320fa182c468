import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { sql, type Kysely } from 'kysely'

import type { Credentials } from '../http/basic.ts'
import type { Database } from '../store/database.ts'
import type { Who } from './authorize.ts'
import { verifyPassword } from './password.ts'

export interface Sessions {
  logIn(
    credentials: Credentials,
    address: string,
  ): Promise<{ readonly who: Who; readonly token: string }>
  find(token: string): Promise<Who | undefined>
}

/** Idle this long, or alive this long in all, a token is worth nothing. */
const IDLE = sql`interval '30 min'`
const LIFE = sql`interval '24 h'`

export const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Tokens are kept as hashes: who reads the table cannot log in with it. */
export function makeSessions(db: Kysely<Database>, secret: () => string, spare: string): Sessions {
  return {
    async logIn({ user, org, password }) {
      const account = await db
        .selectFrom('account')
        .innerJoin('org', 'org.id', 'account.org')
        .select(['account.id', 'account.org', 'account.role', 'account.password'])
        .select('account.disabled')
        .where('org.name', '=', org)
        .where('account.name', '=', user)
        .executeTakeFirst()
      // An account that is not there costs as much time as one that is.
      const right = await verifyPassword(password, account?.password ?? spare)
      if (!account || !right || account.disabled) {
        throw new Fault('unauthenticated', 'user, organisation or password is wrong')
      }
      const token = secret()
      await db
        .insertInto('session')
        .values({ token_hash: hashToken(token), org: account.org, account: account.id })
        .execute()
      const { id, role } = account
      return { token, who: { user, account: id, org: account.org, orgName: org, role } }
    },
    async find(token) {
      const { rows } = await sql<Who>`
        update session set seen_at = clock_timestamp() from account, org
        where token_hash = ${hashToken(token)} and session.seen_at > clock_timestamp() - ${IDLE}
          and session.began_at > clock_timestamp() - ${LIFE}
          and account.org = session.org and account.id = session.account and not account.disabled
          and org.id = session.org
        returning account.name as user, account.id as account, account.org as org, org.name as "orgName",
          account.role as role`.execute(db)
      return rows[0]
    },
  }
}
