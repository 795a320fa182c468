import type { Hello } from '@skerry/host-api'
import type { HostId, VmId } from '@skerry/vm'
import { sql, type Kysely, type Selectable } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { CloudTables } from '../database/tables.ts'
import { lockedInOrder, loseSight } from '../inventory/vms.ts'
import { keepOrphans } from '../recovery/orphans.ts'
import { aheadOf, beginRecovery } from '../recovery/recovery.ts'

export type HostRow = Selectable<CloudTables['host']>

export async function findHost(db: Kysely<CloudTables>, id: string): Promise<HostRow | undefined> {
  return db
    .selectFrom('host')
    .selectAll()
    .where('id', '=', id as HostId)
    .executeTakeFirst()
}

/** A new session, and the highest fencing token that the host was known to have on disk before it. */
export type Session = Pick<HostRow, 'session' | 'highest'>

/** After a broken link: starts a new session if this cell still follows the host. */
export async function nextSession(
  db: Kysely<CloudTables>,
  id: HostId,
  cell: string,
): Promise<Session | undefined> {
  return db
    .updateTable('host')
    .set({ session: sql`next_fence()`, list_session: '0' })
    .where('id', '=', id)
    .where('follower', '=', cell)
    .where('state', '=', 'joined')
    .returning(['session', 'highest'])
    .executeTakeFirst()
}

export type HelloVerdict = 'welcome' | 'replaced' | 'quarantined' | 'recovering'

/**
 * Records a hello. If a host has seen a higher fencing token than this database ever issued, the database was
 * restored from a backup. If a host has lost tokens, the host itself was restored.
 */
export async function recordHello(
  db: Kysely<CloudTables>,
  id: HostId,
  { session, highest }: Session,
  hello: Hello,
): Promise<HelloVerdict> {
  return db.transaction().execute(async (tx) => {
    const { rows } = await sql<{
      ahead: boolean
      behind: boolean
      quarantine: string | null
      recovering: boolean
    }>`
      select ${aheadOf(hello.highest)} as ahead, quarantine, (select recovering from cloud) as recovering,
        -- An operator's decision counts at once, also for a session that began before.
        ${hello.highest}::bigint < least(highest, ${highest}::bigint) as behind
      from host where id = ${id} and session = ${session} for no key update`.execute(tx)
    const [known] = rows
    if (!known) return 'replaced'
    const { ahead, behind } = known
    if (ahead || known.recovering) {
      // Its highest token counts when the tokens are raised above all that were ever seen.
      const highest = sql<string>`greatest(highest, ${hello.highest}::bigint)`
      const seen = { highest, seen_at: sql<Date>`clock_timestamp()` }
      await tx.updateTable('host').set(seen).where('id', '=', id).execute()
      if (ahead) await beginRecovery(tx, { host: id, highest: hello.highest })
      return 'recovering'
    }
    const why = behind ? 'it has lost fencing tokens that it had on disk' : null
    const quarantine = known.quarantine ?? why
    const { local } = hello
    await tx
      .updateTable('host')
      .set({
        boot: hello.boot,
        version: hello.version,
        seen_at: sql`clock_timestamp()`,
        cpus: hello.cpus,
        memory_mib: hello.memoryMiB,
        disk_mib: hello.diskMiB,
        local_cpus: local.cpus,
        local_memory_mib: local.memoryMiB,
        quarantine,
      })
      .where('id', '=', id)
      .execute()
    if (quarantine === null) return 'welcome'
    if (known.quarantine === null)
      await emitEvent(tx, { kind: 'host.quarantined', host: id, details: { why } })
    return 'quarantined'
  })
}

/** The host's list was read completely: the host accepts work; a new host is enabled. */
export async function recordListed(
  db: Kysely<CloudTables>,
  id: HostId,
  session: string,
  orphans: readonly VmId[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const opened = await tx
      .updateTable('host')
      .set({
        list_session: session,
        enabled: sql`enabled or not first_list_read`,
        first_list_read: true,
      })
      .where('id', '=', id)
      .where('session', '=', session)
      .returning('id')
      .executeTakeFirst()
    if (!opened) return
    const before = sql`vm.host = ${id} and vm.deleted_at is null and vm.seen_session > 0 and vm.seen_session < ${session}`
    await lockedInOrder(before).execute(tx)
    // A VM that is being deleted may be gone already: its task reports that.
    const missing = await tx
      .updateTable('vm')
      .set({ host_silent: true, missing: sql`missing + 1` })
      .where('host', '=', id)
      .where('deleted_at', 'is', null)
      .where('lost_reason', 'is', null)
      .where('closed', '=', false)
      .where('seen_session', '>', '0')
      .where('seen_session', '<', session)
      .returning(['id', 'org', 'vapp', 'missing'])
      // As it was before this statement.
      .returning((eb) =>
        eb
          .selectFrom('vm as before')
          .select('before.host_silent')
          .whereRef('before.id', '=', 'vm.id')
          .as('was_silent'),
      )
      .execute()
    const unknown = Map.groupBy(
      missing.filter((vm) => !vm.was_silent),
      ({ org }) => org,
    )
    for (const [org, { length: count }] of unknown) {
      await emitEvent(tx, { kind: 'vms.unknown', org, details: { count } })
    }
    // Missing once may be a list made while the VM moved; missing twice is reported to operators.
    for (const vm of missing.filter((each) => each.missing === 2)) {
      await emitEvent(tx, { kind: 'vm.missing', vm, host: id })
    }
    await keepOrphans(tx, id, orphans)
  })
}

/** Stores the highest tokens of hosts in one statement: a thousand hosts answer every few seconds. */
export async function recordHighest(
  db: Kysely<CloudTables>,
  answers: ReadonlyMap<HostId, string>,
): Promise<void> {
  if (answers.size === 0) return
  const rows = [...answers].map(([id, highest]) => ({ id, highest }))
  await sql`update host set highest = greatest(host.highest, reported.highest), seen_at = clock_timestamp()
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as reported(id uuid, highest bigint)
    where host.id = reported.id`.execute(db)
}

/** The link is lost: its VMs are not observed until a new session has listed them. */
export async function loseHost(
  db: Kysely<CloudTables>,
  id: HostId,
  session: string,
): Promise<void> {
  const lost = await db
    .updateTable('host')
    .set({ list_session: '0' })
    .where('id', '=', id)
    .where('session', '=', session)
    .returning('id')
    .executeTakeFirst()
  if (lost) await loseSight(db, id)
}
