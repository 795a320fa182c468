import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf, type BasicCredentials } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Role } from '../domain/roles.ts'
import { forgiveFailures, readFailures, recordFailure } from '../tenants/login-failures.ts'
import { emitRefusedLogin } from '../tenants/logins.ts'
import { hashToken, isAccessToken, NOTED, UNEXPIRED } from './access-token.ts'
import { CheckQueue, type CheckQueueOptions } from './check-queue.ts'
import { verifyPassword } from './password.ts'

export interface Account {
  readonly id: UserId
  readonly org: OrgId
  readonly role: Role
  /** The API token that was given instead of a password. */
  readonly accessToken?: { readonly id: string; readonly name: string }
}

/** Returns the account of these credentials; throws if they are wrong, or were tried too often from this address. */
export type CheckCredentials = (credentials: BasicCredentials, address: string) => Promise<Account>

/** One account as seen from one network: wrong guesses there do not lock it for others. */
const keyOf = ({ user, org }: BasicCredentials, address: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([org, user, networkOf(address)]))
    .digest()

/** `spare`: a hash without a known password, for accounts that do not exist. */
export function makeCheck(
  db: Kysely<CloudTables>,
  spare: string,
  options: CheckQueueOptions,
): CheckCredentials {
  const queue = new CheckQueue(options)
  return async (credentials, address) => {
    const key = keyOf(credentials, address)
    const account = await queue.take(address, async () => {
      const { wait, any } = await readFailures(db, key)
      // Also with the right password: otherwise the response would reveal that it is right.
      if (wait > 0) throw tooMany(wait)
      const found = await check(db, credentials, spare)
      if (!found) {
        await recordFailure(db, key)
        await emitRefusedLogin(db, { ...credentials, address })
      } else if (any) await forgiveFailures(db, key)
      return found
    })
    if (account) return account
    throw new Fault('unauthenticated', 'user, organisation or password is wrong')
  }
}

/** The account of these credentials, if they are right and it is enabled. */
async function check(
  db: Kysely<CloudTables>,
  credentials: BasicCredentials,
  spare: string,
): Promise<Account | undefined> {
  const { user, org, password } = credentials
  if (isAccessToken(password)) return accountOfToken(db, credentials)
  const account = await db
    .selectFrom('account')
    .innerJoin('org', 'org.id', 'account.org')
    .select(['account.id', 'account.org', 'account.role', 'account.password'])
    .select('account.disabled')
    .where('org.name', '=', org)
    .where('account.name', '=', user)
    .where('org.disabled', '=', false)
    .executeTakeFirst()
  // A missing account takes as much time as an existing one.
  const right = await verifyPassword(password, account?.password ?? spare)
  return right && !account?.disabled ? account : undefined
}

/** The account of this API token, if it is that of these names: the token of another user is as wrong as an unknown one. */
async function accountOfToken(
  db: Kysely<CloudTables>,
  { user, org, password }: BasicCredentials,
): Promise<Account | undefined> {
  const { rows } = await sql<
    Omit<Account, 'accessToken'> & { token: string; name: string; stale: boolean }
  >`
    select account.id as id, account.org as org, account.role as role, access_token.id as token,
      access_token.name as name, coalesce(used_at < clock_timestamp() - ${NOTED}, true) as stale
    from access_token
      join account on account.org = access_token.org and account.id = access_token.account
      join org on org.id = access_token.org
    where token_hash = ${hashToken(password)} and account.name = ${user} and org.name = ${org}
      and not account.disabled and not org.disabled and ${UNEXPIRED}`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { token, name, stale, ...account } = found
  if (stale) {
    await sql`update access_token set used_at = clock_timestamp() where id = ${token}`.execute(db)
  }
  return { ...account, accessToken: { id: token, name } }
}

const tooMany = (seconds: number): Fault =>
  new Fault('too-many', `too many wrong passwords: retry in ${seconds} s`, {
    detail: String(seconds),
  })
