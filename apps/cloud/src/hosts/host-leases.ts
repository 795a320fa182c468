import type { Condition } from '@skerry/service'
import type { HostId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { emitEvent } from '../database/events.ts'
import type { Tx, CloudTables } from '../database/tables.ts'
import { decideLeases, type Leases, type Scene } from './decide-leases.ts'
import type { HostRow } from './hosts.ts'

/** How long a cell counts as alive, and a host as followed, without renewal. */
export const LEASE = sql`interval '15 s'`
/** A lease is renewed when less than this is left, at every second heartbeat: enough for a database outage of 10 s. */
const RENEWED = sql`interval '12 s'`
/** How long a cell leaves a host that it lost contact with to other cells. */
const STAND_BACK = sql`interval '60 s'`

/** What a cell reports about itself at a heartbeat. */
export interface Beat {
  readonly cell: string
  readonly fit: boolean
  /** Its own hosts that have been silent for too long. */
  readonly silent: ReadonlySet<HostId>
  readonly report?: CellReport | undefined
}

/** What administrators can read about a cell. */
export interface CellReport {
  readonly version: string
  readonly conditions: readonly Condition[]
}

export interface HeldHosts extends Pick<Leases, 'works' | 'letGo'> {
  readonly hosts: readonly HostRow[]
  /** A committed fencing token: hosts store the highest one that they have seen. */
  readonly fencingToken: string
}

/**
 * One heartbeat of a cell: it is alive, its leases are renewed, hosts that another cell should have are given up, free ones
 * are taken. Every host that it takes gets a new session, which shuts out the previous follower.
 */
export async function renewHosts(db: Kysely<CloudTables>, beat: Beat): Promise<HeldHosts> {
  const { cell } = beat
  return db.transaction().execute(async (tx) => {
    await recordBeat(tx, beat)
    await sql`update host set follower = null, follow_until = null
      where follower = ${cell} and state <> 'joined'`.execute(tx)
    const { works, letGo, giveBack, take } = decideLeases(await readScene(tx, beat))
    if (letGo.length > 0) await standBack(tx, cell, letGo)
    const away = [...letGo, ...giveBack]
    if (away.length > 0) {
      await sql`update host set follower = null, follow_until = null
        where follower = ${cell} and id = any(${away}::uuid[])`.execute(tx)
    }
    await sql`update host set follow_until = clock_timestamp() + ${LEASE}
      where follower = ${cell} and follow_until < clock_timestamp() + ${RENEWED}`.execute(tx)
    if (take.length > 0) {
      await sql`update host set follower = ${cell}, follow_until = clock_timestamp() + ${LEASE},
          session = next_fence(), list_session = 0
        where id in (select id from host where id = any(${take}::uuid[]) and state = 'joined'
          and (follower is null or follow_until < clock_timestamp())
          for no key update skip locked)`.execute(tx)
    }
    const hosts = await tx.selectFrom('host').selectAll().where('follower', '=', cell).execute()
    const { rows } = await sql<{ fence: string }>`select next_fence() as fence`.execute(tx)
    return { works, letGo, hosts, fencingToken: rows[0]?.fence ?? '0' }
  })
}

async function recordBeat(tx: Tx, { cell, fit, report }: Beat): Promise<void> {
  const conditions = JSON.stringify(report?.conditions ?? [])
  await sql`insert into cell (id, alive_until, fit, version, conditions)
    values (${cell}, clock_timestamp() + ${LEASE}, ${fit}, ${report?.version ?? null}, ${conditions}::jsonb)
    on conflict (id) do update set alive_until = excluded.alive_until, fit = excluded.fit,
      version = excluded.version, conditions = excluded.conditions`.execute(tx)
}

async function readScene(tx: Tx, { cell, silent }: Beat): Promise<Scene> {
  const { rows: cells } = await sql<Scene['cells'][number]>`
    select id, fit from cell where alive_until > clock_timestamp()`.execute(tx)
  // An expired lease of this cell is still its own until another cell takes the host.
  const { rows: hosts } = await sql<Scene['hosts'][number]>`
    select id, case when follower = ${cell} or follow_until >= clock_timestamp() then follower end as follower
    from host where state = 'joined' order by follow_until nulls first, id`.execute(tx)
  const { rows: standingBack } = await sql<Scene['standingBack'][number]>`
    select cell, host from standing_back where until > clock_timestamp()`.execute(tx)
  return { cell, cells, hosts, standingBack, silent }
}

async function standBack(tx: Tx, cell: string, hosts: readonly HostId[]): Promise<void> {
  await sql`insert into standing_back (cell, host, until)
    select ${cell}, host, clock_timestamp() + ${STAND_BACK} from unnest(${hosts}::uuid[]) as host
    on conflict (cell, host) do update set until = excluded.until`.execute(tx)
  for (const host of hosts) await emitEvent(tx, { kind: 'host.let-go', host, details: { cell } })
}

/** Hosts that this cell stands back from and should try again, because that period ends soon. */
export async function hostsToTryAgain(
  db: Kysely<CloudTables>,
  cell: string,
): Promise<readonly HostRow[]> {
  return db
    .selectFrom('host')
    .selectAll()
    .where('state', '=', 'joined')
    .where(
      sql<boolean>`id in (select host from standing_back
        where cell = ${cell} and until < clock_timestamp() + interval '10 s')`,
    )
    .execute()
}

/** If the host answered, this cell may follow it again; otherwise it stands back for another minute. */
export async function recordTried(
  db: Kysely<CloudTables>,
  cell: string,
  host: HostId,
  answered: boolean,
): Promise<void> {
  const row = sql`cell = ${cell} and host = ${host}`
  await (
    answered
      ? sql`delete from standing_back where ${row}`
      : sql`update standing_back set until = clock_timestamp() + ${STAND_BACK} where ${row}`
  ).execute(db)
}

/** Some hosts that other cells have contact with now. */
export async function hostsHeardByOthers(
  db: Kysely<CloudTables>,
  cell: string,
  limit: number,
): Promise<readonly HostRow[]> {
  return db
    .selectFrom('host')
    .selectAll()
    .where('state', '=', 'joined')
    .where('follower', '<>', cell)
    .where(sql<boolean>`list_session = session and seen_at > clock_timestamp() - interval '12 s'`)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** A cell that stops releases its hosts at once, so that other cells need not wait for its leases to expire. */
export async function releaseHosts(db: Kysely<CloudTables>, cell: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('cell').where('id', '=', cell).execute()
    await tx
      .updateTable('host')
      .set({ follower: null, follow_until: null })
      .where('follower', '=', cell)
      .execute()
  })
}
