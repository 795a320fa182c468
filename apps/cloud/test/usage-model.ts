// A model of what organisations use: whole milliseconds, summed up without a database. And a clock of metering that tests set.
import { until } from '@skerry/lab'
import { openDatabase } from '@skerry/postgres'
import type { OrgId } from '@skerry/vm'
import { sql, type Kysely } from 'kysely'

import { actingAs } from '../src/database/acting-as.ts'
import type { CloudTables } from '../src/database/tables.ts'
import { foldUsage } from '../src/metering/fold-usage.ts'
import { usageColumns, type UsageColumn } from '../src/metering/sum-usage.ts'
import type { CloudDatabase } from './cloud-database.ts'

const HOUR_MS = 3_600_000

/** From now on the clock of metering is a setting of each connection: `setClock`. */
export const takeClock = ({ asOwner }: Pick<CloudDatabase, 'asOwner'>): Promise<unknown> =>
  asOwner((db) =>
    sql`create or replace function usage_clock() returns timestamptz language sql volatile
      return current_setting('test.now')::timestamptz`.execute(db),
  )

/** One connection with a clock of its own. */
export const openClocked = ({ url }: Pick<CloudDatabase, 'url'>): Kysely<CloudTables> =>
  openDatabase<CloudTables>({
    url: actingAs(url, 'skerry_system'),
    applicationName: 'clocked',
    size: 1,
  })

export const setClock = (db: Kysely<CloudTables>, now: number): Promise<unknown> =>
  sql`select set_config('test.now', ${new Date(now).toISOString()}, false)`.execute(db)

/** Moves the beginning of metering to this hour. */
export const startMetering = (db: Kysely<CloudTables>, start: number): Promise<unknown> =>
  sql`update usage_folded set until = ${new Date(start)}, closed_at = null, closed_tx = null`.execute(
    db,
  )

/**
 * Sums up all hours before this one, and returns their number. An hour waits for every older transaction of the cluster: PostgreSQL's own
 * analysis is one, and a session that was just ended may be another.
 */
export async function foldUntil(db: Kysely<CloudTables>, hour: number): Promise<number> {
  let folded = 0
  await until(`usage is summed up until ${new Date(hour).toISOString()}`, async () => {
    folded += await foldUsage(db)
    const row = await db.selectFrom('usage_folded').select('until').executeTakeFirstOrThrow()
    return row.until.getTime() >= hour
  })
  return folded
}

/** What a unit uses at a time. */
export interface UnitUse {
  readonly vm: number
  readonly running: boolean
  readonly cpus: number
  readonly memory: number
  readonly storage: number
  readonly template: number
  readonly address: number
}
export const nothing: UnitUse = {
  vm: 0,
  running: false,
  cpus: 0,
  memory: 0,
  storage: 0,
  template: 0,
  address: 0,
}

export type Sums = Record<UsageColumn, bigint>

/** What each organisation used in each hour, by '<org> <hour>'. */
export class UsageModel {
  readonly hours = new Map<string, Sums>()
  /** No change is earlier: up to here everything is summed up. */
  until = 0
  readonly #open = new Map<string, { readonly org: OrgId; since: number; use: UnitUse }>()

  begin(id: string, org: OrgId, now: number, use: UnitUse): void {
    this.#open.set(id, { org, since: Math.max(now, this.until), use })
  }

  change(id: string, now: number, use: UnitUse): void {
    const unit = this.#open.get(id)
    if (!unit || JSON.stringify(unit.use) === JSON.stringify(use)) return
    const moment = Math.max(now, this.until, unit.since)
    this.#add(unit.org, unit.use, unit.since, moment)
    unit.since = moment
    unit.use = use
  }

  endAll(now: number): void {
    for (const id of this.#open.keys()) this.change(id, now, nothing)
  }

  #add(org: OrgId, use: UnitUse, since: number, moment: number): void {
    for (let from = since; from < moment;) {
      const hour = Math.floor(from / HOUR_MS) * HOUR_MS
      const to = Math.min(moment, hour + HOUR_MS)
      const key = `${org} ${new Date(hour).toISOString()}`
      const sums = this.hours.get(key) ?? noSums()
      this.hours.set(key, sums)
      const ms = BigInt(to - from)
      const runningMs = use.running ? ms : 0n
      sums.vm_ms += ms * BigInt(use.vm)
      sums.running_vm_ms += runningMs
      sums.cpu_ms += ms * BigInt(use.cpus)
      sums.running_cpu_ms += runningMs * BigInt(use.cpus)
      sums.memory_mib_ms += ms * BigInt(use.memory)
      sums.running_memory_mib_ms += runningMs * BigInt(use.memory)
      sums.storage_mib_ms += ms * BigInt(use.storage)
      sums.template_mib_ms += ms * BigInt(use.template)
      sums.address_ms += ms * BigInt(use.address)
      from = to
    }
  }
}

const noSums = (): Sums =>
  Object.fromEntries(usageColumns.map((name) => [name, 0n])) as Record<UsageColumn, bigint>

/** A missing row is one of zeros. */
export const isEqual = (a: Sums = noSums(), b: Sums = noSums()): boolean =>
  usageColumns.every((name) => a[name] === b[name])
