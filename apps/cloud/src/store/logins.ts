import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { by, tell } from './events.ts'

interface Came {
  readonly user: string
  readonly address: string
}

const told = (came: Came) => sql`${JSON.stringify(by(came))}::jsonb`

/** From now on this token is worth what its account is. That somebody came in is told with it, or neither is so. */
export async function beginSession(
  db: Kysely<Database>,
  { hash, org, account }: { readonly hash: Buffer; readonly org: OrgId; readonly account: UserId },
  came: Came,
): Promise<void> {
  await sql`with begun as (
      insert into session (token_hash, org, account) values (${hash}, ${org}, ${account}) returning org)
    insert into event (kind, org, what) select 'session.begun', org, ${told(came)} from begun`.execute(
    db,
  )
}

/** The token is worth nothing any more, at any cell. */
export async function endSession(tx: Tx, who: Who, hash: Buffer): Promise<void> {
  const gone = await tx.deleteFrom('session').where('token_hash', '=', hash).executeTakeFirst()
  // Of two that log out at once, one did.
  if (gone.numDeletedRows > 0n)
    await tell(tx, { kind: 'session.ended', org: who.org, what: by(who) })
}

/**
 * A wrong password is told to the organisation of the account that it was tried on. Names that are no account's are told to nobody:
 * there is no end to them, while those of accounts end where nothing is tried any more. Asked for both, so that both take as long.
 */
export async function tellRefused(
  db: Kysely<Database>,
  { user, org, address }: Came & { readonly org: string },
): Promise<void> {
  await sql`insert into event (kind, org, what)
    select 'session.refused', account.org, ${told({ user, address })}
    from account join org on org.id = account.org
    where org.name = ${org} and account.name = ${user}`.execute(db)
}
