import { Fault } from '@skerry/fault'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'

/** What an operator wants to know when networks do not do what they should. */
export interface ZoneState {
  readonly zone: string
  /** The network server that holds the lease, or held it last. */
  readonly server: string | null
  readonly held: boolean
  readonly leaseUntil: Date | null
  readonly fencingToken: string
  /** The projection of the newest holder is complete: hosts may connect to it. */
  readonly opened: boolean
  /** Changes that the hosts do not have yet. */
  readonly waiting: number
  readonly oldestSeconds: number | null
  /** Changes that were refused at least once, and what OVN said to the newest of them. */
  readonly failing: number
  readonly fault: string | null
  readonly hosts: readonly ZoneHost[]
}

interface ZoneHost {
  readonly name: string
  readonly state: string
  /** none: it has no Open vSwitch. */
  readonly networks: 'none' | 'ready' | 'failing'
  readonly reason: string | null
}

export async function readZoneState(db: Kysely<CloudTables>, name: string): Promise<ZoneState> {
  const { rows } = await sql<Omit<ZoneState, 'hosts'>>`
    select zone.name as zone, zone.holder as server, coalesce(zone.lease_until > clock_timestamp(), false) as held,
      zone.lease_until as "leaseUntil", zone.fence::text as "fencingToken",
      zone.opened > 0 and zone.opened = zone.fence as opened,
      count(change.unit)::integer as waiting,
      floor(extract(epoch from clock_timestamp() - min(change.since)))::integer as "oldestSeconds",
      (count(change.unit) filter (where change.attempts > 0))::integer as failing,
      (array_agg(change.fault order by change.version desc) filter (where change.fault is not null))[1] as fault
    from network_zone zone left join network_change change on change.zone = zone.id
    where zone.name = ${name} group by zone.id`.execute(db)
  const [zone] = rows
  if (!zone) throw new Fault('not-found', `there is no zone ${name}`)
  const hosts = await db
    .selectFrom('host')
    .innerJoin('network_zone', 'network_zone.id', 'host.zone')
    .select([
      'host.name',
      'host.state',
      'host.overlay as networks',
      'host.overlay_reason as reason',
    ])
    .where('network_zone.name', '=', name)
    .orderBy('host.name')
    .execute()
  return { ...zone, hosts }
}
