// Somebody with a token, without the time that a login takes.
import { randomBytes } from 'node:crypto'

import type { Kysely } from 'kysely'

import type { Role } from '../src/identity/roles.ts'
import { hashToken } from '../src/identity/sessions.ts'
import type { Database } from '../src/store/database.ts'

/** A token of a new user of this organisation, which is made where it is not there. */
export async function tokenOf(
  db: Kysely<Database>,
  orgName: string,
  role: Role = 'author',
): Promise<string> {
  const known = await db
    .selectFrom('org')
    .select('id')
    .where('name', '=', orgName)
    .executeTakeFirst()
  const { id: org } =
    known ??
    (await db.insertInto('org').values({ name: orgName }).returning('id').executeTakeFirstOrThrow())
  const name = `user-${randomBytes(4).toString('hex')}`
  const { id: account } = await db
    .insertInto('account')
    .values({ org, name, role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('session')
    .values({ token_hash: hashToken(token), org, account })
    .execute()
  return token
}
