import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import type { Who } from '../identity/authorize.ts'
import { lowerRole, SYSTEM_ROLE, withinOrg, type Role } from '../identity/roles.ts'
import type { Tx } from '../world.ts'
import type { Database } from './database.ts'
import { tell } from './events.ts'

export interface NewGrant {
  /** Whose definition it is. */
  readonly org: string
  readonly account: string
  readonly kind: 'run' | 'schedule'
  /** The grant that it is drawn from, where nobody stands there and asks. */
  readonly parent: string | undefined
  /** The workflow server that asks. */
  readonly server: string
}

interface Starter {
  readonly user: string
  readonly account: UserId
  readonly home: OrgId
  readonly org: OrgId
  readonly role: Role
}

/** Somebody who has shown his password there just now: a server remembers one for a minute. */
const JUST_NOW = sql`interval '2 min'`

/** Who may act in an organisation: those of it, and those who run the cloud. None of them while disabled. */
const actors = sql`account
  join org home on home.id = account.org and not home.disabled and not account.disabled
  join org on not org.disabled and (org.id = account.org or account.role = ${sql.lit(SYSTEM_ROLE)})`

/** Leave to act for somebody in one organisation, and at the most with the rights that they have now. */
export async function giveGrant(
  db: Kysely<Database>,
  { org, account, kind, parent, server }: NewGrant,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const starter = await starterOf(tx, org, account)
    if (!starter) throw refused('nobody of this name may act in this organisation')
    const above =
      parent === undefined
        ? await isThere(tx, server, starter)
        : await ceilingOf(tx, { org: starter.org, account: starter.account, parent })
    if (above === undefined) {
      const from = parent === undefined ? 'the user did not ask for it here' : 'its parent is over'
      throw refused(from)
    }
    const ceiling = lowerRole(withinOrg(starter.role), above)
    const { id } = await tx
      .insertInto('workflow_grant')
      .values({
        ...{ org: starter.org, kind, parent: parent ?? null, ceiling, server },
        ...{ account_org: starter.home, account: starter.account },
      })
      .returning('id')
      .executeTakeFirstOrThrow()
    const what = { by: starter.user, via: server, grant: id, for: kind, ceiling }
    await tell(tx, { kind: 'grant.given', org: starter.org, what })
    return id
  })
}

const refused = (why: string): Fault => new Fault('forbidden', `there is no grant: ${why}`)

async function starterOf(tx: Tx, org: string, account: string): Promise<Starter | undefined> {
  // Locked, so that whoever disables them ends this one too.
  const { rows } = await sql<Starter>`
    select account.name as user, account.id as account, account.org as home, org.id as org, account.role as role
    from ${actors} where org.id = ${org} and account.id = ${account} for share of account`.execute(
    tx,
  )
  return rows[0]
}

async function isThere(tx: Tx, server: string, { home, account, role }: Starter) {
  const { rows } = await sql`select from workflow_login where server = ${server}
    and account_org = ${home} and account = ${account} and at > clock_timestamp() - ${JUST_NOW}`.execute(
    tx,
  )
  return rows.length > 0 ? role : undefined
}

async function ceilingOf(
  tx: Tx,
  { org, account, parent }: { readonly org: OrgId; readonly account: UserId; parent: string },
): Promise<Role | undefined> {
  const row = await tx
    .selectFrom('workflow_grant')
    .select('ceiling')
    .where('org', '=', org)
    .where('account', '=', account)
    .where('id', '=', parent)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return row?.ceiling
}

/** Ends it, if that was not so before. What was drawn from it goes on: a run outlives its schedule. */
export async function endGrant(db: Kysely<Database>, id: string, server: string): Promise<void> {
  const what = sql`jsonb_build_object('by', account.name, 'via', ${server}::text, 'grant', ended.id,
    'for', ended.kind, 'why', 'it is over')`
  await sql`with ended as (
      update workflow_grant set ended_at = clock_timestamp() where id = ${id} and ended_at is null
      returning id, org, kind, account_org, account)
    insert into event (kind, org, what) select 'grant.ended', ended.org, ${what}
    from ended join account on account.org = ended.account_org and account.id = ended.account`.execute(
    db,
  )
}

/** In whose name the run of this grant asks, as it stands now: no more than when it was given, and no more than they may now. */
export async function whoOfGrant(db: Kysely<Database>, id: string): Promise<Who | undefined> {
  const { rows } = await sql<Starter & { readonly orgName: string; readonly ceiling: Role }>`
    select account.name as user, account.id as account, org.id as org, org.name as "orgName",
      account.role as role, given.ceiling as ceiling
    from ${actors} join workflow_grant given on given.org = org.id
      and given.account_org = account.org and given.account = account.id
    where given.id = ${id} and given.kind = 'run' and given.ended_at is null`.execute(db)
  const [found] = rows
  if (!found) return undefined
  const { user, account, org, orgName, ceiling } = found
  const role = lowerRole(withinOrg(found.role), ceiling)
  return { user, account, org, orgName, role, script: true, grant: id }
}
