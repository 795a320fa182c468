// A caller with a token, without the cost of a login.
import { randomBytes } from 'node:crypto'

import type { Kysely } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import type { CloudTables } from '../src/database/tables.ts'
import type { Role } from '../src/domain/roles.ts'

/** A token of a new user of this organisation, which is created if it does not exist. */
export async function tokenOf(
  db: Kysely<CloudTables>,
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
