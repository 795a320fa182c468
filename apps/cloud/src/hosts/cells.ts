import type { Condition } from '@skerry/service'
import { sql, type Kysely } from 'kysely'

import type { CloudTables } from '../database/tables.ts'
import { LEASE } from './host-leases.ts'

/** A cell, as its last heartbeat and its leases describe it. */
export interface ListedCell {
  readonly id: string
  readonly alive: boolean
  readonly fit: boolean
  /** Its last heartbeat. */
  readonly seen: Date
  readonly version: string | null
  /** The number of hosts that it follows now. */
  readonly hosts: number
  readonly conditions: readonly ReportedCondition[]
}

/** A health condition as JSON stores it. */
export type ReportedCondition = Omit<Condition, 'since'> & { readonly since: string }

/** The cells that did not stop properly are listed too: they are not alive. */
export async function listCells(db: Kysely<CloudTables>): Promise<readonly ListedCell[]> {
  const { rows } = await sql<ListedCell>`
    select id, alive_until > clock_timestamp() as alive, fit, alive_until - ${LEASE} as seen, version, conditions,
      (select count(*)::integer from host
        where host.follower = cell.id and host.follow_until > clock_timestamp()) as hosts
    from cell order by id`.execute(db)
  return rows
}
