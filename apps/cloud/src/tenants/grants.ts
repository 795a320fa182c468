import { Fault } from '@skerry/fault'
import type { OrgId, UserId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import { OWN_RIGHTS, withRights, type RowWithRole } from '../database/role-rights.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import type { Principal } from '../domain/authorize.ts'
import {
  grantableOf,
  isBuiltIn,
  isSameRole,
  lowerRole,
  rightsOf,
  SYSTEM_ROLE,
  withinOrg,
  type RoleRights,
} from '../domain/roles.ts'

export interface NewGrant {
  /** Chosen by the server; undefined: the database chooses. */
  readonly id?: string | undefined
  /** The organisation that owns the workflow definition. */
  readonly org: string
  readonly account: string
  readonly kind: 'run' | 'schedule'
  /** The grant that it is derived from, if no user is present. */
  readonly parent: string | undefined
  /** The workflow server that requests it. */
  readonly server: string
}

interface Starter extends RoleRights {
  readonly user: string
  readonly account: UserId
  readonly home: OrgId
  readonly org: OrgId
}

type StarterRow = Omit<Starter, 'rights'> & RowWithRole

/** The user has authenticated at the server within this time; a server caches that for a minute. */
const JUST_NOW = sql`interval '2 min'`

/** Accounts that may act in an organisation: its own users and system administrators, unless disabled or lapsed. */
const actors = sql`account
  join org home on home.id = account.org and not home.disabled and not account.disabled
    and not account.lapsed
  join org on not org.disabled and (org.id = account.org or account.role = ${sql.lit(SYSTEM_ROLE)})`

/** Permission to act for a user in one organisation, with at most the rights that the user has now. */
export async function giveGrant(
  db: Kysely<CloudTables>,
  { id: chosen, org, account, kind, parent, server }: NewGrant,
): Promise<string> {
  return db.transaction().execute(async (tx) => {
    const starter = await starterOf(tx, org, account)
    if (!starter) throw refused('this user may not act in this organisation')
    const above =
      parent === undefined
        ? await isThere(tx, server, starter)
        : await ceilingOf(tx, { org: starter.org, account: starter.account, parent, server })
    if (above === undefined) {
      const from =
        parent === undefined
          ? 'the user is not logged in at this server'
          : 'the parent grant has ended'
      throw refused(from)
    }
    const ceiling = lowerRole(withinOrg(starter), above)
    const made = await tx
      .insertInto('workflow_grant')
      .values({
        ...(chosen !== undefined && { id: chosen }),
        org: starter.org,
        kind,
        parent: parent ?? null,
        ...asCeiling(ceiling),
        server,
        account_org: starter.home,
        account: starter.account,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('id')
      .executeTakeFirst()
    if (!made) return sameGrant(tx, { id: chosen ?? '', org: starter.org, account, kind, server })
    const { id } = made
    const what = { by: starter.user, via: server, grant: id, for: kind, ...saidOf(ceiling) }
    await emitEvent(tx, { kind: 'grant.given', org: starter.org, details: what })
    return id
  })
}

/** The grant of an earlier request with this id. */
async function sameGrant(
  tx: Tx,
  {
    id,
    org,
    account,
    kind,
    server,
  }: Pick<NewGrant, 'org' | 'account' | 'kind' | 'server'> & { id: string },
): Promise<string> {
  const { rows } = await sql`select from workflow_grant where id = ${id} and org = ${org}
    and account = ${account} and kind = ${kind} and server = ${server} and ended_at is null`.execute(
    tx,
  )
  if (rows.length > 0) return id
  throw refused('this grant has ended, or is another one')
}

const refused = (why: string): Fault => new Fault('forbidden', `grant rejected: ${why}`)

async function starterOf(tx: Tx, org: string, account: string): Promise<Starter | undefined> {
  // Locked, so that disabling the account ends this grant too.
  const { rows } = await sql<StarterRow>`
    select account.name as user, account.id as account, account.org as home, org.id as org, account.role as role,
      ${OWN_RIGHTS} as own
    from ${actors} where org.id = ${org} and account.id = ${account} for share of account`.execute(
    tx,
  )
  return rows[0] && withRights(rows[0])
}

async function isThere(
  tx: Tx,
  server: string,
  { home, account, role, rights }: Starter,
): Promise<RoleRights | undefined> {
  const { rows } = await sql`select from workflow_login where server = ${server}
    and account_org = ${home} and account = ${account} and at > clock_timestamp() - ${JUST_NOW}`.execute(
    tx,
  )
  return rows.length > 0 ? { role, rights } : undefined
}

async function ceilingOf(
  tx: Tx,
  {
    org,
    account,
    parent,
    server,
  }: Pick<Starter, 'org' | 'account'> & { parent: string; server: string },
): Promise<RoleRights | undefined> {
  const row = await tx
    .selectFrom('workflow_grant')
    .select(['ceiling', 'ceiling_rights'])
    .where('org', '=', org)
    .where('account', '=', account)
    .where('id', '=', parent)
    .where('server', '=', server)
    .where('ended_at', 'is', null)
    .executeTakeFirst()
  return row ? readCeiling(row) : undefined
}

/** The rights of a grant are stored, unless they are those of a role that every organisation has. */
function asCeiling(ceiling: RoleRights) {
  const { role, rights } = ceiling
  const isWhole = isBuiltIn(role) && isSameRole(ceiling, rightsOf(role))
  return { ceiling: role, ceiling_rights: isWhole ? null : [...rights] }
}

const readCeiling = ({
  ceiling,
  ceiling_rights: rights,
}: {
  readonly ceiling: string | null
  readonly ceiling_rights: readonly string[] | null
}): RoleRights =>
  rights === null ? rightsOf(ceiling ?? '') : { role: ceiling ?? '', rights: grantableOf(rights) }

/** As an event reports it. */
function saidOf(given: RoleRights) {
  const { ceiling, ceiling_rights: rights } = asCeiling(given)
  return { ceiling, ...(rights && { rights }) }
}

/**
 * Ends a grant of this server; idempotent. Derived grants stay valid: a run outlives its schedule. The end of an unknown grant is
 * stored under its id, so that a request for it that is still in progress, at this cell or another, fails.
 */
export async function endGrant(db: Kysely<CloudTables>, id: string, server: string): Promise<void> {
  const what = sql`jsonb_build_object('by', account.name, 'via', ${server}::text, 'grant', ended.id,
    'for', ended.kind, 'why', 'ended')`
  await sql`with ended as (
      insert into workflow_grant as given (id, server, ended_at) values (${id}, ${server}, clock_timestamp())
      on conflict (id) do update set ended_at = excluded.ended_at
        where given.server = excluded.server and given.ended_at is null
      returning id, org, kind, account_org, account)
    insert into event (kind, org, details) select 'grant.ended', ended.org, ${what}
    from ended join account on account.org = ended.account_org and account.id = ended.account`.execute(
    db,
  )
}

/**
 * The principal of a run with this grant: its rights are limited to those at the time of the grant and to the user's current ones.
 * A grant is valid only for the server that received it.
 */
export async function whoOfGrant(
  db: Kysely<CloudTables>,
  id: string,
  server: string,
): Promise<Principal | undefined> {
  const { rows } = await sql<
    StarterRow & {
      readonly orgName: string
      readonly ceiling: string
      readonly ceiling_rights: readonly string[] | null
    }
  >`
    select account.name as user, account.id as account, org.id as org, org.name as "orgName",
      account.role as role, ${OWN_RIGHTS} as own, given.ceiling as ceiling, given.ceiling_rights as ceiling_rights
    from ${actors} join workflow_grant given on given.org = org.id
      and given.account_org = account.org and given.account = account.id
    where given.id = ${id} and given.server = ${server} and given.kind = 'run' and given.ended_at is null`.execute(
    db,
  )
  const [found] = rows
  if (!found) return undefined
  const { user, account, org, orgName } = found
  const held = lowerRole(withinOrg(withRights(found)), readCeiling(found))
  return { user, account, org, orgName, ...held, script: true, grant: id }
}
