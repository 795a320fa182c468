// The smallest change that makes the northbound database what the projection says.
import { canonical, uuid, type OvsdbOperation } from '@skerry/ovsdb'

import type { NorthboundCopy } from './northbound-copy.ts'
import type { NorthboundRow } from './northbound-row.ts'

/** All rows that a unit should have. */
export interface WantedUnit {
  readonly unit: string
  readonly rows: readonly NorthboundRow[]
}

/** Rows that the units have and should not have are deleted. Rows of other units, and those of no unit, stay. */
export function difference(
  units: readonly WantedUnit[],
  copy: NorthboundCopy,
): readonly OvsdbOperation[] {
  const operations: OvsdbOperation[] = []
  const wanted = new Set<string>()
  for (const { table, id, columns } of units.flatMap(({ rows }) => rows)) {
    wanted.add(`${table}/${id}`)
    // By its id, not among the rows of the unit: a card that was moved to another network has the same id there.
    const existing = copy.find(table, id)?.columns
    if (existing === undefined) {
      operations.push({ op: 'insert', table, uuid: id, row: columns })
      continue
    }
    const changed = Object.entries(columns).filter(([column, value]) => {
      const now = existing[column]
      return now === undefined || canonical(now) !== canonical(value)
    })
    if (changed.length === 0) continue
    operations.push({ op: 'update', table, where: only(id), row: Object.fromEntries(changed) })
  }
  for (const { table, id } of units.flatMap(({ unit }) => copy.rowsOf(unit))) {
    if (!wanted.has(`${table}/${id}`)) operations.push({ op: 'delete', table, where: only(id) })
  }
  return operations
}

const only = (id: string) => [['_uuid', '==', uuid(id)]] as const
