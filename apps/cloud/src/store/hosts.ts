import type { Hello } from '@skerry/host-api'
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import type { Database } from './database.ts'
import { tell } from './events.ts'
import { aheadOf, beginRecovery } from './recovery.ts'
import { keepStrays } from './strays.ts'
import { loseSight } from './vms.ts'

export type HostRow = Selectable<Database['host']>

/** How long a cell counts as alive, and a host as followed, that nobody renews. */
const LEASE = sql`interval '15 s'`
/** A host is renewed when less than this is left, at every second beat: long enough for a database that is away 10 s. */
const RENEWED = sql`interval '12 s'`

export async function findHost(db: Kysely<Database>, id: string): Promise<HostRow | undefined> {
  return db
    .selectFrom('host')
    .selectAll()
    .where('id', '=', id as HostId)
    .executeTakeFirst()
}

export interface Held {
  readonly hosts: readonly HostRow[]
  /** A number that is committed by now: hosts keep the highest that they were shown. */
  readonly number: string
}

/**
 * One beat of a cell: it is alive, its hosts are renewed, those over its share given back, free ones
 * taken. Every host that it takes gets a new session, which shuts out whoever followed it before.
 */
export async function renewHosts(db: Kysely<Database>, cell: string): Promise<Held> {
  return db.transaction().execute(async (tx) => {
    await sql`insert into cell (id, alive_until) values (${cell}, clock_timestamp() + ${LEASE})
      on conflict (id) do update set alive_until = excluded.alive_until`.execute(tx)
    await sql`update host set follower = null, follow_until = null
      where follower = ${cell} and state <> 'joined'`.execute(tx)
    const { rows: shares } = await sql<{ share: number; mine: number }>`
      select ceil((select count(*) from host where state = 'joined')
          / (select count(*) from cell where alive_until > clock_timestamp())::float)::integer as share,
        (select count(*) from host where follower = ${cell})::integer as mine`.execute(tx)
    const { share = 0, mine = 0 } = shares[0] ?? {}
    if (mine > share) {
      await sql`update host set follower = null, follow_until = null where id in
        (select id from host where follower = ${cell} order by id desc limit ${mine - share})`.execute(
        tx,
      )
    }
    await sql`update host set follow_until = clock_timestamp() + ${LEASE}
      where follower = ${cell} and follow_until < clock_timestamp() + ${RENEWED}`.execute(tx)
    if (mine < share) {
      await sql`update host set follower = ${cell}, follow_until = clock_timestamp() + ${LEASE},
          session = next_number(), listed = 0
        where id in (select id from host where state = 'joined'
          and (follower is null or follow_until < clock_timestamp())
          order by follow_until nulls first limit ${share - mine} for no key update skip locked)`.execute(
        tx,
      )
    }
    const hosts = await tx.selectFrom('host').selectAll().where('follower', '=', cell).execute()
    const { rows } = await sql<{ number: string }>`select next_number() as number`.execute(tx)
    return { hosts, number: rows[0]?.number ?? '0' }
  })
}

/** A cell that stops lets go at once: nobody has to wait for its lease to run out. */
export async function releaseHosts(db: Kysely<Database>, cell: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('cell').where('id', '=', cell).execute()
    await tx
      .updateTable('host')
      .set({ follower: null, follow_until: null })
      .where('follower', '=', cell)
      .execute()
  })
}

/** A session that begins, and the highest number that the host was known to have on disk before it did. */
export type Session = Pick<HostRow, 'session' | 'highest'>

/** A link broke: the next one is a new session, as long as the host is still this cell's. */
export async function nextSession(
  db: Kysely<Database>,
  id: HostId,
  cell: string,
): Promise<Session | undefined> {
  return db
    .updateTable('host')
    .set({ session: sql`next_number()`, listed: '0' })
    .where('id', '=', id)
    .where('follower', '=', cell)
    .where('state', '=', 'joined')
    .returning(['session', 'highest'])
    .executeTakeFirst()
}

export type Welcome = 'welcome' | 'replaced' | 'quarantined' | 'recovering'

/**
 * What a hello tells. A host that has seen a higher number than we ever gave knows more than this
 * database: it was restored from a backup. A host that has forgotten numbers was itself restored.
 */
export async function recordHello(
  db: Kysely<Database>,
  id: HostId,
  { session, highest }: Session,
  hello: Hello,
): Promise<Welcome> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      ahead: boolean
      behind: boolean
      quarantine: string | null
      recovering: boolean
    }>`
      select ${aheadOf(hello.highest)} as ahead, quarantine, (select recovering from cloud) as recovering,
        -- What a person has decided counts at once, also for a session that began before.
        ${hello.highest}::bigint < least(highest, ${highest}::bigint) as behind
      from host where id = ${id} and session = ${session} for no key update`.execute(tx)
    const [known] = rows
    if (!known) return 'replaced'
    const { ahead, behind } = known
    if (ahead || known.recovering) {
      // What it has on disk counts when the numbers are raised above all that were ever seen.
      const highest = sql<string>`greatest(highest, ${hello.highest}::bigint)`
      const seen = { highest, seen_at: sql<Date>`clock_timestamp()` }
      await tx.updateTable('host').set(seen).where('id', '=', id).execute()
      if (ahead) await beginRecovery(tx, { host: id, highest: hello.highest })
      return 'recovering'
    }
    const why = behind ? 'it has forgotten numbers that it had on disk' : null
    const quarantine = known.quarantine ?? why
    const { local } = hello
    await tx
      .updateTable('host')
      .set({
        ...{ boot: hello.boot, version: hello.version, seen_at: sql`clock_timestamp()` },
        ...{ cpus: hello.cpus, memory_mib: hello.memoryMiB, disk_mib: hello.diskMiB },
        ...{ local_cpus: local.cpus, local_memory_mib: local.memoryMiB },
        quarantine,
      })
      .where('id', '=', id)
      .execute()
    if (quarantine === null) return 'welcome'
    if (known.quarantine === null)
      await tell(tx, { kind: 'host.quarantined', host: id, what: { why } })
    return 'quarantined'
  })
}

/** The whole list was read: the host is open for work, a new one for the first time. */
export async function recordListed(
  db: Kysely<Database>,
  id: HostId,
  session: string,
  strays: readonly VmId[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const opened = await tx
      .updateTable('host')
      .set({ listed: session, enabled: sql`enabled or not introduced`, introduced: true })
      .where('id', '=', id)
      .where('session', '=', session)
      .returning('id')
      .executeTakeFirst()
    if (!opened) return
    // One that is being deleted may be gone already: its task says so, as soon as it can.
    const missing = await tx
      .updateTable('vm')
      .set({ unseen: true, missing: sql`missing + 1` })
      .where('host', '=', id)
      .where('deleted_at', 'is', null)
      .where('fate', 'is', null)
      .where('closed', '=', false)
      .where('seen_session', '>', '0')
      .where('seen_session', '<', session)
      .returning(['id', 'org', 'vapp', 'missing'])
      .execute()
    // Once may be a list that was made while the VM moved; twice is for people to look at.
    for (const vm of missing.filter((each) => each.missing === 2)) {
      await tell(tx, { kind: 'vm.missing', vm, host: id })
    }
    await keepStrays(tx, id, strays)
  })
}

/** What hosts have on disk, all in one statement: a thousand of them answer every few seconds. */
export async function recordHighest(
  db: Kysely<Database>,
  answers: ReadonlyMap<HostId, string>,
): Promise<void> {
  if (answers.size === 0) return
  const rows = [...answers].map(([id, highest]) => ({ id, highest }))
  await sql`update host set highest = greatest(host.highest, told.highest), seen_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as told(id uuid, highest bigint)
    where host.id = told.id`.execute(db)
}

/** The link is gone: nobody sees its VMs until a new session has listed them. */
export async function loseHost(db: Kysely<Database>, id: HostId, session: string): Promise<void> {
  const lost = await db
    .updateTable('host')
    .set({ listed: '0' })
    .where('id', '=', id)
    .where('session', '=', session)
    .returning('id')
    .executeTakeFirst()
  if (lost) await loseSight(db, id)
}
