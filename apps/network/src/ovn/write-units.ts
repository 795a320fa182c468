// Writes units into the northbound database, several in a transaction, and alone those that it refuses.
import { Refused, type Ovsdb } from '@skerry/ovsdb'

import { difference, type WantedUnit } from '../projection/difference.ts'
import type { NorthboundCopy } from '../projection/northbound-copy.ts'
import { writeFenced } from './fence.ts'

/** A larger transaction keeps the database from all others for too long. A unit is never divided. */
const OPERATIONS_MAX = 2_000

export interface NorthboundWriter {
  readonly database: Ovsdb
  readonly copy: NorthboundCopy
  /** The fencing token. */
  readonly token: string
}

export interface WrittenUnits {
  /** How many operations were executed. */
  readonly operations: number
  /** The units that differed, without those that it refused. */
  readonly changed: ReadonlySet<string>
  /** What the database said about units that it refused. */
  readonly refused: ReadonlyMap<string, string>
}

/** Makes the database what the units say. Throws a Fault `stale` if a newer token has it. */
export async function writeUnits(
  writer: NorthboundWriter,
  units: readonly WantedUnit[],
): Promise<WrittenUnits> {
  const refused = new Map<string, string>()
  const changed = new Set<string>()
  let operations = 0
  for (const pack of packed(units, writer.copy)) {
    for (const { unit } of pack) changed.add(unit)
    try {
      operations += await write(writer, pack)
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      for (const unit of pack) {
        operations += await write(writer, [unit]).catch((why: unknown) => {
          if (!(why instanceof Refused)) throw why
          refused.set(unit.unit, why.message)
          changed.delete(unit.unit)
          return 0
        })
      }
    }
  }
  return { operations, changed, refused }
}

async function write(
  { database, copy, token }: NorthboundWriter,
  units: readonly WantedUnit[],
): Promise<number> {
  const operations = difference(units, copy)
  if (operations.length > 0) await writeFenced(database, token, operations)
  return operations.length
}

/** Whole units, as many as fit into a transaction. */
export function packed(
  units: readonly WantedUnit[],
  copy: NorthboundCopy,
): readonly (readonly WantedUnit[])[] {
  const packs: WantedUnit[][] = []
  let room = 0
  for (const unit of units) {
    const { length } = difference([unit], copy)
    if (length === 0) continue
    if (length > room) {
      packs.push([])
      room = OPERATIONS_MAX
    }
    packs.at(-1)?.push(unit)
    room -= length
  }
  return packs
}
