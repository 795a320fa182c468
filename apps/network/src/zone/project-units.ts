// Brings units from PostgreSQL into the northbound database: those that changed, or all.
import { Fault } from '@skerry/fault'
import type { Kysely, Transaction } from 'kysely'

import { endChanges, failChange, readChanges, type NetworkChange } from '../database/changes.ts'
import type { HeldZone } from '../database/lease.ts'
import { readCloud, type UnitScope } from '../database/read-cloud.ts'
import { writeUnits, type NorthboundWriter } from '../ovn/write-units.ts'
import type { WantedUnit } from '../projection/difference.ts'
import { northboundOf } from '../projection/northbound.ts'
import type { ProjectedCloud } from '../projection/projected-cloud.ts'

/** Changes of one pass. */
export const CHANGES_MAX = 200

export interface ProjectionContext<DB> {
  readonly database: Kysely<DB>
  readonly held: HeldZone
  readonly writer: NorthboundWriter
  readonly protected: readonly string[]
  readonly log: (message: string, cause?: unknown) => void
}

export interface ProjectedPass {
  /** How many changes were read. */
  readonly changes: number
  /** How many operations the database executed. */
  readonly operations: number
  /** The units that differed although no change of them was known. */
  readonly corrected: readonly string[]
  /** The units that could not be projected. */
  readonly failed: ReadonlySet<string>
}

/** Projects the oldest changes. */
export async function projectChanges<DB>(context: ProjectionContext<DB>): Promise<ProjectedPass> {
  const { held } = context
  const read = await inSnapshot(context.database, async (tx) => {
    const changes = await readChanges(tx, held.zone, { most: CHANGES_MAX, all: false })
    if (changes.length === 0) return undefined
    return { changes, cloud: await readCloud(tx, reading(context), scopeOf(changes)) }
  })
  if (read === undefined) return { changes: 0, operations: 0, corrected: [], failed: new Set() }
  const units = new Set(read.changes.map(({ unit }) => unit))
  return project(context, read, units)
}

/** Projects the whole zone. Rows of units that do not exist any more are deleted. */
export async function projectAll<DB>(context: ProjectionContext<DB>): Promise<ProjectedPass> {
  const { held, writer } = context
  const read = await inSnapshot(context.database, async (tx) => ({
    changes: await readChanges(tx, held.zone, { most: Number.MAX_SAFE_INTEGER, all: true }),
    cloud: await readCloud(tx, reading(context)),
  }))
  return project(context, read, new Set(writer.copy.units()), { whole: true })
}

const reading = <DB>(context: ProjectionContext<DB>) => ({
  zone: context.held.zone,
  protected: context.protected,
})

const inSnapshot = <DB, T>(database: Kysely<DB>, read: (tx: Transaction<DB>) => Promise<T>) =>
  database
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(read)

function scopeOf(changes: readonly NetworkChange[]): UnitScope {
  const ids = Map.groupBy(new Set(changes.map(({ unit }) => unit)), (unit) => unit.split('/')[0])
  const of = (kind: NetworkChange['kind']) =>
    (ids.get(kind) ?? []).map((unit) => unit.slice(kind.length + 1))
  return { gateways: of('edge gateway'), networks: of('network'), groups: of('edge group') }
}

/** `units`: to be compared, even if they have no rows in PostgreSQL any more. */
async function project<DB>(
  context: ProjectionContext<DB>,
  {
    changes,
    cloud,
  }: { readonly changes: readonly NetworkChange[]; readonly cloud: ProjectedCloud },
  units: ReadonlySet<string>,
  { whole = false } = {},
): Promise<ProjectedPass> {
  const projections = new Map(northboundOf(cloud).map((each) => [each.unit, each]))
  const faults = new Map<string, string>()
  const wanted: WantedUnit[] = []
  for (const unit of whole ? new Set([...projections.keys(), ...units]) : units) {
    const projection = projections.get(unit)
    // A unit with a fault keeps the rows that it has.
    if (projection !== undefined && 'fault' in projection)
      faults.set(unit, projection.fault.message)
    else wanted.push(projection ?? { unit, rows: [] })
  }
  const { operations, changed, refused } = await writeUnits(context.writer, wanted)
  for (const [unit, why] of refused) faults.set(unit, why)
  for (const [unit, why] of faults) context.log(`${unit} is not projected: ${why}`)
  await report(context, changes, faults)
  const known = new Set(changes.map(({ unit }) => unit))
  const corrected = [...changed].filter((unit) => !known.has(unit))
  return { changes: changes.length, operations, corrected, failed: new Set(faults.keys()) }
}

async function report<DB>(
  { database, held }: ProjectionContext<DB>,
  changes: readonly NetworkChange[],
  faults: ReadonlyMap<string, string>,
): Promise<void> {
  const done = changes.filter(({ unit }) => !faults.has(unit))
  let isHeld = true
  // In parts: the first fill of a large zone ends thousands of changes, and a statement has a time limit.
  for (let from = 0; isHeld && from < done.length; from += CHANGES_MAX) {
    isHeld = await endChanges(database, held, done.slice(from, from + CHANGES_MAX))
  }
  for (const change of changes) {
    const why = faults.get(change.unit)
    if (isHeld && why !== undefined) isHeld = await failChange(database, held, change, why)
  }
  if (!isHeld) throw new Fault('stale', 'another network server holds the zone')
}
