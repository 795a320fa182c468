// The units that have changed since they were projected.
import { sql, type Kysely } from 'kysely'

import { gatewayUnit, groupUnit, networkUnit } from '../projection/unit.ts'
import type { HeldZone } from './lease.ts'

/** What a unit is for the triggers that mark changes. */
export interface NetworkChange {
  readonly kind: 'network' | 'edge gateway' | 'edge group'
  readonly id: string
  readonly version: string
  /** The projection unit that it belongs to. */
  readonly unit: string
}

/** After this many attempts a unit waits for the next full pass, or for its next change. */
const ATTEMPTS = 3

interface ChangeRow extends Omit<NetworkChange, 'unit'> {
  readonly edgeGateway: string | null
}

/** The oldest changes. `all`: also those that failed too often. */
export async function readChanges<DB>(
  database: Kysely<DB>,
  zone: string,
  { most, all }: { readonly most: number; readonly all: boolean },
): Promise<readonly NetworkChange[]> {
  const tried = all ? sql`true` : sql`change.attempts < ${ATTEMPTS}`
  const { rows } = await sql<ChangeRow>`
    select change.kind, change.unit as id, change.version::text as version, network.edge_gateway as "edgeGateway"
    from network_change change left join network on change.kind = 'network' and network.id = change.unit
    where change.zone = ${zone}::uuid and ${tried}
    order by change.since, change.unit limit ${most}`.execute(database)
  return rows.map(({ edgeGateway, ...change }) => ({
    ...change,
    unit: unitOf(change, edgeGateway),
  }))
}

function unitOf({ kind, id }: Pick<NetworkChange, 'kind' | 'id'>, edgeGateway: string | null) {
  if (kind === 'edge group') return groupUnit(id)
  return kind === 'edge gateway' ? gatewayUnit(id) : networkUnit({ id, edgeGateway })
}

/** These changes are projected; one that has changed again stays. False if another server has the zone. */
export async function endChanges<DB>(
  database: Kysely<DB>,
  { zone, token }: HeldZone,
  changes: readonly NetworkChange[],
): Promise<boolean> {
  if (changes.length === 0) return true
  // In the order of the triggers that mark changes, so that the two cannot deadlock.
  const sorted = changes.toSorted(
    (one, other) => compare(one.kind, other.kind) || compare(one.id, other.id),
  )
  const { rows } = await sql<{ held: boolean }>`
    select bool_and(end_network_change(${zone}::uuid, ${token}::bigint, kind, unit, version)) as held
    from unnest(${sorted.map(({ kind }) => kind)}::text[], ${sorted.map(({ id }) => id)}::uuid[],
      ${sorted.map(({ version }) => version)}::bigint[]) as ended (kind, unit, version)`.execute(
    database,
  )
  return rows[0]?.held === true
}

/** As PostgreSQL compares uuids and these kinds; not by the rules of a language. */
const compare = (one: string, other: string): number => Number(one > other) - Number(one < other)

/** Stores why a change could not be projected. False if another server has the zone. */
export async function failChange<DB>(
  database: Kysely<DB>,
  { zone, token }: HeldZone,
  { kind, id, version }: NetworkChange,
  fault: string,
): Promise<boolean> {
  const { rows } = await sql<{ held: boolean }>`
    select fail_network_change(${zone}::uuid, ${token}::bigint, ${kind}, ${id}::uuid, ${version}::bigint, ${fault})
      as held`.execute(database)
  return rows[0]?.held === true
}

/** Emits an event: these units differed without a change in PostgreSQL. */
export async function reportCorrections<DB>(
  database: Kysely<DB>,
  { zone, token }: HeldZone,
  units: readonly string[],
): Promise<void> {
  await sql`select report_corrections(${zone}::uuid, ${token}::bigint, ${units}::text[])`.execute(
    database,
  )
}

export interface WaitingChanges {
  readonly count: number
  readonly oldestSeconds: number
}

export async function countChanges<DB>(
  database: Kysely<DB>,
  zone: string,
): Promise<WaitingChanges> {
  const { rows } = await sql<{ count: string; seconds: string }>`
    select count(*) as count, coalesce(extract(epoch from clock_timestamp() - min(since)), 0) as seconds
    from network_change where zone = ${zone}::uuid`.execute(database)
  const [row] = rows
  return { count: Number(row?.count ?? 0), oldestSeconds: Math.max(0, Number(row?.seconds ?? 0)) }
}
