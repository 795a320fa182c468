// The lease of a zone in PostgreSQL decides which network server tries to write; the fencing token decides which one may.
import { sql, type Kysely } from 'kysely'

/** Another server may take the zone after this time without a renewal. */
export const LEASE_SECONDS = 15
const RENEW_MS = 5_000

export interface HeldZone {
  readonly zone: string
  /** The fencing token. */
  readonly token: string
}

export interface LeaseContext<DB> {
  readonly database: Kysely<DB>
  /** The name of this server. */
  readonly server: string
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number
}

/** Takes or renews the zone. Undefined if another server has it, or while the cloud recovers from a restore. */
export async function holdZone<DB>(
  { database, server }: LeaseContext<DB>,
  zone: string,
): Promise<HeldZone | undefined> {
  const { rows } = await sql<{ token: string | null }>`
    select hold_zone(${zone}::uuid, ${server}, ${LEASE_SECONDS}::integer)::text as token`.execute(
    database,
  )
  const token = rows[0]?.token ?? null
  return token === null ? undefined : { zone, token }
}

/**
 * Renews the lease until it is lost or the signal is aborted. It is lost when another server has the zone, and also when the database
 * has not confirmed it for its whole length: another may have it then.
 */
export async function keepLease<DB>(
  context: LeaseContext<DB>,
  held: HeldZone,
  signal: AbortSignal,
): Promise<void> {
  const { now, pause } = context
  let confirmed = now()
  while (!signal.aborted && now() - confirmed < LEASE_SECONDS * 1000) {
    const began = now()
    try {
      if ((await holdZone(context, held.zone))?.token !== held.token) return
      confirmed = began
      await pause(RENEW_MS, signal)
    } catch {
      await pause(RENEW_MS / 5, signal)
    }
  }
}

/** Another server may take the zone at once. */
export async function releaseZone<DB>(
  database: Kysely<DB>,
  { zone, token }: HeldZone,
): Promise<void> {
  await sql`select release_zone(${zone}::uuid, ${token}::bigint)`.execute(database)
}

/** Publishes where hosts find the projection. False if another server has the zone. */
export async function openZone<DB>(
  database: Kysely<DB>,
  { zone, token }: HeldZone,
  remote: string,
): Promise<boolean> {
  const { rows } = await sql<{ opened: boolean }>`
    select open_zone(${zone}::uuid, ${token}::bigint, ${remote}) as opened`.execute(database)
  return rows[0]?.opened === true
}

export async function findZone<DB>(
  database: Kysely<DB>,
  name: string,
): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    select id from network_zone where name = ${name}`.execute(database)
  return rows[0]?.id
}
