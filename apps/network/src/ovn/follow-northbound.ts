import type { Ovsdb, TableChanges } from '@skerry/ovsdb'

import { NorthboundCopy } from '../projection/northbound-copy.ts'
import {
  northboundColumns,
  northboundTables,
  type NorthboundTable,
} from '../projection/northbound-row.ts'
import { NORTHBOUND } from './fence.ts'

/**
 * A copy of the northbound database that follows it. The server reports the changes of a transaction before it answers the
 * transaction, so the copy holds them when the caller continues.
 */
export async function followNorthbound(database: Ovsdb): Promise<NorthboundCopy> {
  const copy = new NorthboundCopy()
  const tables = Object.fromEntries(
    northboundTables.map((table) => [table, [...northboundColumns[table], 'external_ids']]),
  )
  const changed = (changes: TableChanges) => {
    for (const [table, rows] of changes) {
      for (const [id, { new: row }] of rows) {
        if (row === undefined) copy.remove(table as NorthboundTable, id)
        else copy.put(table as NorthboundTable, id, row)
      }
    }
  }
  for (const [table, rows] of await database.monitor(NORTHBOUND, tables, changed)) {
    for (const [id, row] of rows) copy.put(table as NorthboundTable, id, row)
  }
  return copy
}
