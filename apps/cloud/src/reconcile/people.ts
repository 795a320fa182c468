import type { Seal } from '@skerry/service'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables, Tx } from '../database/tables.ts'
import { changeRole, lapse, noteProved, type ArrivedAccount } from '../directories/arrive.ts'
import { readPeople } from '../directories/ask-directory.ts'
import { accessTo, rankedGroupRolesOf, settingsOf } from '../directories/identity-providers.ts'
import { writeMemberships } from '../directories/memberships.ts'
import { groupsAmong, roleOf, type RankedGroupRole } from '../directories/role-of.ts'
import type { DirectoryGroup, Person } from '../domain/ldap-settings.ts'

type ProviderRow = Selectable<CloudTables['identity_provider']>
type KnownPerson = ArrivedAccount & { readonly subject: string }

/** People in one question. */
const AT_ONCE = 100
/** More than this many users, and more than this share of all, do not leave within one pass. */
const LEAVERS_BELIEVED = 5
const SHARE_BELIEVED = 0.1
/** An identity server that does not answer for this long is reported. */
const SILENCE = sql`interval '1 h'`

export interface PeopleDecision {
  readonly leavers: readonly KnownPerson[]
  readonly changed: readonly { readonly account: KnownPerson; readonly role: string }[]
  readonly seen: readonly KnownPerson[]
  /** Whether it is plausible that so many left. If not, the settings are wrong, and nothing is changed. */
  readonly believed: boolean
}

const isBelieved = (leavers: number, all: number): boolean =>
  leavers <= LEAVERS_BELIEVED || leavers <= all * SHARE_BELIEVED

/** What a pass does: who has no role at the identity server any more, and who has another one. */
export function decidePeople(
  accounts: readonly KnownPerson[],
  people: ReadonlyMap<string, Person>,
  groups: readonly RankedGroupRole[],
): PeopleDecision {
  const roleNow = ({ subject }: KnownPerson): string | undefined => {
    const person = people.get(subject)
    return person?.enabled ? roleOf(person.groups, groups) : undefined
  }
  const found = accounts.map((account) => ({ account, role: roleNow(account) }))
  const leavers = found.flatMap(({ account, role }) => (role === undefined ? [account] : []))
  const seen = found.flatMap(({ account, role }) => (role === undefined ? [] : [account]))
  const changed = found.flatMap(({ account, role }) =>
    role === undefined || role === account.role ? [] : [{ account, role }],
  )
  return { leavers, changed, seen, believed: isBelieved(leavers.length, accounts.length) }
}

/**
 * Asks every directory about the users whom it has proved: who left loses all access, who has other groups gets their role. A
 * server that does not answer changes nothing. Returns the number of users changed.
 */
export async function reconcilePeople(
  db: Kysely<CloudTables>,
  seal: Pick<Seal, 'open'>,
  signal?: AbortSignal,
): Promise<number> {
  const providers = await db
    .selectFrom('identity_provider')
    .selectAll()
    .where('disabled', '=', false)
    .orderBy('id')
    .execute()
  // One that hangs does not hold up the others.
  const changes = await Promise.all(
    providers.map((provider) =>
      provider.kind === 'ldap'
        ? reconcileProvider(db, provider, seal, signal)
        : lapseUnproved(db, provider),
    ),
  )
  return changes.reduce((sum, each) => sum + each, 0)
}

async function reconcileProvider(
  db: Kysely<CloudTables>,
  provider: ProviderRow,
  seal: Pick<Seal, 'open'>,
  signal: AbortSignal | undefined,
): Promise<number> {
  const accounts = await accountsOf(db, provider)
  let people: ReadonlyMap<string, Person>
  try {
    people = await readAll(provider, accounts, seal, signal)
  } catch {
    await noteSilence(db, provider)
    return 0
  }
  return db.transaction().execute(async (tx) => {
    await noteAnswer(tx, provider)
    const given = await rankedGroupRolesOf(tx, provider)
    const decision = decidePeople(accounts, people, given)
    const { leavers, changed, seen, believed } = decision
    await noteDoubt(tx, provider, believed ? undefined : decision)
    if (!believed) return 0
    const lapsed = await lapse(tx, provider, leavers)
    for (const { account, role } of changed) await changeRole(tx, provider, account, role)
    await noteProved(
      tx,
      provider.org,
      seen.map(({ id }) => id),
    )
    const memberships = seen.map(({ id, subject }) => ({
      account: id,
      groups: groupsAmong(people.get(subject)?.groups ?? [], given),
    }))
    await writeMemberships(tx, provider, memberships)
    return lapsed + changed.length
  })
}

/**
 * An OpenID Connect server is not asked who is still there: a user who has not logged in with it for long loses all access. A clock that
 * jumps would take it from all at once, which is not believed.
 */
function lapseUnproved(db: Kysely<CloudTables>, provider: ProviderRow): Promise<number> {
  const how = settingsOf(provider)
  const days = how.kind === 'oidc' ? how.settings.proofDays : 0
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<KnownPerson & { isLate: boolean }>`
      select id, org, name, role, subject,
        coalesce(proved_at < clock_timestamp() - make_interval(days => ${days}), true) as "isLate"
      from account where org = ${provider.org} and provider = ${provider.id} and not lapsed and not disabled
      order by id`.execute(tx)
    const leavers = rows.filter(({ isLate }) => isLate)
    const seen = rows.filter(({ isLate }) => !isLate)
    const believed = isBelieved(leavers.length, rows.length)
    await noteDoubt(tx, provider, believed ? undefined : { leavers, seen })
    return believed ? lapse(tx, provider, leavers) : 0
  })
}

async function accountsOf(
  db: Kysely<CloudTables>,
  { org, id }: { readonly org: OrgId; readonly id: string },
): Promise<KnownPerson[]> {
  const { rows } = await sql<KnownPerson>`select id, org, name, role, subject from account
    where org = ${org} and provider = ${id} and not lapsed and not disabled order by id`.execute(db)
  return rows
}

async function readAll(
  provider: ProviderRow,
  accounts: readonly KnownPerson[],
  seal: Pick<Seal, 'open'>,
  signal: AbortSignal | undefined,
): Promise<ReadonlyMap<string, Person>> {
  const access = accessTo(provider, (sealed, about) => seal.open(sealed, about))
  const groups = new Map<string, Promise<readonly DirectoryGroup[]>>()
  const people = new Map<string, Person>()
  for (let from = 0; from < accounts.length; from += AT_ONCE) {
    signal?.throwIfAborted()
    const subjects = accounts.slice(from, from + AT_ONCE).map(({ subject }) => subject)
    for (const [subject, person] of await readPeople(access, subjects, groups)) {
      people.set(subject, person)
    }
  }
  return people
}

/** Emits an event once, when the silence has lasted. */
async function noteSilence(db: Kysely<CloudTables>, { org, id, name }: ProviderRow): Promise<void> {
  await sql`update identity_provider set silent_since = clock_timestamp()
    where org = ${org} and id = ${id} and silent_since is null`.execute(db)
  await sql`with reported as (
      update identity_provider set silent_reported = true where org = ${org} and id = ${id}
        and not silent_reported and silent_since < clock_timestamp() - ${SILENCE} returning org, silent_since)
    insert into event (kind, org, details)
    select 'provider.silent', org, jsonb_build_object('name', ${name}::text, 'since', silent_since) from reported`.execute(
    db,
  )
}

async function noteAnswer(tx: Tx, { org, id, name }: ProviderRow): Promise<void> {
  const { rows } = await sql<{ reported: boolean }>`update identity_provider as now
    set silent_since = null, silent_reported = false
    from (select silent_reported from identity_provider where org = ${org} and id = ${id} for update) before
    where now.org = ${org} and now.id = ${id} and now.silent_since is not null
    returning before.silent_reported as reported`.execute(tx)
  if (rows[0]?.reported) await emitEvent(tx, { kind: 'provider.back', org, details: { name } })
}

/** Emits an event when a mass departure is first reported; it ends with the first plausible pass. */
async function noteDoubt(
  tx: Tx,
  { org, id, name }: ProviderRow,
  doubted: Pick<PeopleDecision, 'leavers' | 'seen'> | undefined,
): Promise<void> {
  if (!doubted) {
    await sql`update identity_provider set doubted_since = null
      where org = ${org} and id = ${id} and doubted_since is not null`.execute(tx)
    return
  }
  const { rows } = await sql`update identity_provider set doubted_since = clock_timestamp()
    where org = ${org} and id = ${id} and doubted_since is null returning id`.execute(tx)
  if (rows.length === 0) return
  const { leavers, seen } = doubted
  const details = { name, leavers: leavers.length, users: leavers.length + seen.length }
  await emitEvent(tx, { kind: 'provider.doubted', org, details })
}
