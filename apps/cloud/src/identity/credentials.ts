import { createHash } from 'node:crypto'

import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import type { Kysely } from 'kysely'

import type { Credentials } from '../http/basic.ts'
import type { Database } from '../store/database.ts'
import { forgiveFailures, readFailures, recordFailure } from '../store/login-failures.ts'
import { tellRefused } from '../store/logins.ts'
import { Lanes } from './lanes.ts'
import { networkOf } from './network-of.ts'
import { verifyPassword } from './password.ts'
import type { Role } from './roles.ts'

export interface Account {
  readonly id: UserId
  readonly org: OrgId
  readonly role: Role
}

/** Whose these credentials are; throws where they are nobody's, or were tried too often from there. */
export type CheckCredentials = (credentials: Credentials, address: string) => Promise<Account>

/** So many passwords for one account are looked at together. Those who wait meet what the others have failed by then. */
const AT_ONCE = 2

/** One account as seen from one network: whoever guesses there does not lock it for others. */
const keyOf = ({ user, org }: Credentials, address: string): Buffer =>
  createHash('sha256')
    .update(JSON.stringify([org, user, networkOf(address)]))
    .digest()

/** `spare`: a hash that no password is behind, for accounts that are not there. */
export function makeCheck(db: Kysely<Database>, spare: string): CheckCredentials {
  const lanes = new Lanes(AT_ONCE)
  return async (credentials, address) => {
    const key = keyOf(credentials, address)
    const account = await lanes.take(key.toString('hex'), async () => {
      const { wait, any } = await readFailures(db, key)
      // Also with the right password: otherwise the answer would tell which it is.
      if (wait > 0) throw tooMany(wait)
      const found = await check(db, credentials, spare)
      if (!found) {
        await recordFailure(db, key)
        await tellRefused(db, { ...credentials, address })
      } else if (any) await forgiveFailures(db, key)
      return found
    })
    if (account) return account
    throw new Fault('unauthenticated', 'user, organisation or password is wrong')
  }
}

/** The account of these credentials, if they are right and it may be used. */
async function check(
  db: Kysely<Database>,
  { user, org, password }: Credentials,
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
  // An account that is not there costs as much time as one that is.
  const right = await verifyPassword(password, account?.password ?? spare)
  return right && !account?.disabled ? account : undefined
}

const tooMany = (seconds: number): Fault =>
  new Fault('too-many', `too many wrong passwords: nothing is tried for another ${seconds} s`, {
    detail: String(seconds),
  })
