// The row of a share, and users with whom something is shared.
import { randomBytes } from 'node:crypto'

import type { OrgId, UserId } from '@skerry/vm'
import { sql } from 'kysely'

import { hashToken } from '../src/auth/access-token.ts'
import type { ShareLevel } from '../src/domain/shares.ts'
import type { CloudDatabase } from './cloud-database.ts'

export interface ShareUser {
  readonly org: OrgId
  readonly account: UserId
  readonly user: string
  readonly token: string
}

/** A user with this role and a session. */
export async function addShareUser(
  db: CloudDatabase['db'],
  org: OrgId,
  role: string,
  user = `s-${randomBytes(4).toString('hex')}`,
): Promise<ShareUser> {
  const { id: account } = await db
    .insertInto('account')
    .values({ org, name: user, role, password: 'none' })
    .returning('id')
    .executeTakeFirstOrThrow()
  const token = randomBytes(32).toString('base64url')
  await db
    .insertInto('session')
    .values({ token_hash: hashToken(token), org, account })
    .execute()
  return { org, account, user, token }
}

type SharedPart = { readonly vapp: string } | { readonly catalog: string }

/** Ids may have their prefix. */
const uuidOf = (id: string): string => id.slice(-36)

export async function addShareRow(
  db: CloudDatabase['db'],
  { org, account }: Pick<ShareUser, 'org'> & { readonly account: UserId | null },
  what: SharedPart,
  level: ShareLevel,
): Promise<void> {
  const [vapp, catalog] = 'vapp' in what ? [uuidOf(what.vapp), null] : [null, uuidOf(what.catalog)]
  await db.insertInto('share').values({ org, account, vapp, catalog, level }).execute()
}

export async function removeShareRows(
  db: CloudDatabase['db'],
  { account }: Pick<ShareUser, 'account'>,
  what: SharedPart,
): Promise<void> {
  const [column, id] = 'vapp' in what ? ['vapp', what.vapp] : ['catalog', what.catalog]
  await sql`delete from share where account = ${account} and ${sql.ref(column)} = ${uuidOf(id)}`.execute(
    db,
  )
}

/** The vApp of a vApp or a VM. */
export async function vappOf(db: CloudDatabase['db'], entity: string): Promise<string> {
  const { rows } = await sql<{ vapp: string }>`
    select vapp from vm where id = ${uuidOf(entity)}`.execute(db)
  return rows[0]?.vapp ?? uuidOf(entity)
}
