import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import { networkOf, type BasicCredentials } from '@skerry/service'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import type { Role } from '../domain/roles.ts'
import { forgiveFailures, readFailures, recordFailure } from '../tenants/login-failures.ts'
import { emitRefusedLogin } from '../tenants/logins.ts'
import { CheckQueue, type CheckQueueOptions } from './check-queue.ts'
import { verifyPassword } from './password.ts'

export interface Account {
  readonly id: UserId
  readonly org: OrgId
  readonly role: Role
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
  { user, org, password }: BasicCredentials,
  spare: string,
): Promise<Account | undefined> {
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

const tooMany = (seconds: number): Fault =>
  new Fault('too-many', `too many wrong passwords: retry in ${seconds} s`, {
    detail: String(seconds),
  })
