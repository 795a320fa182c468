// A copy of the northbound database in memory: what is written, found by id and by unit.
import { mapOf, type OvsdbRow } from '@skerry/ovsdb'

import { mark, type NorthboundRow, type NorthboundTable } from './northbound-row.ts'

export class NorthboundCopy {
  readonly #rows = new Map<string, NorthboundRow>()
  readonly #units = new Map<string, Map<string, NorthboundRow>>()

  put(table: NorthboundTable, id: string, columns: OvsdbRow): void {
    this.remove(table, id)
    const row = { table, id, columns }
    this.#rows.set(keyOf(table, id), row)
    const unit = unitOf(row)
    if (unit === undefined) return
    const rows = this.#units.get(unit) ?? new Map<string, NorthboundRow>()
    this.#units.set(unit, rows.set(keyOf(table, id), row))
  }

  remove(table: NorthboundTable, id: string): void {
    const row = this.#rows.get(keyOf(table, id))
    if (row === undefined) return
    this.#rows.delete(keyOf(table, id))
    const unit = unitOf(row)
    if (unit === undefined) return
    this.#units.get(unit)?.delete(keyOf(table, id))
    if (this.#units.get(unit)?.size === 0) this.#units.delete(unit)
  }

  find(table: NorthboundTable, id: string): NorthboundRow | undefined {
    return this.#rows.get(keyOf(table, id))
  }

  /** The rows that the projection wrote for a unit. */
  rowsOf(unit: string): readonly NorthboundRow[] {
    return [...(this.#units.get(unit)?.values() ?? [])]
  }

  /** All units with rows. */
  units(): readonly string[] {
    return [...this.#units.keys()]
  }
}

const keyOf = (table: NorthboundTable, id: string): string => `${table}/${id}`

function unitOf({ columns }: NorthboundRow): string | undefined {
  const marks = mapOf(columns['external_ids'])
  if (marks.get(mark.ours) !== '1') return undefined
  return String(marks.get(mark.unit) ?? 'unknown')
}
