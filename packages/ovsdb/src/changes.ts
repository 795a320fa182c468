// What a monitor reports (RFC 7047, sections 4.1.5 and 4.1.6).
import type { OvsdbRow } from './values.ts'

/** One changed row. Without `old` it was inserted, without `new` it was deleted. */
export interface RowChange {
  /** The previous values: of the changed columns, or of all monitored ones if the row was deleted. */
  readonly old?: OvsdbRow
  /** The values of all monitored columns now. */
  readonly new?: OvsdbRow
}

/** Rows by table, then by their ids. */
export type TableRows = ReadonlyMap<string, ReadonlyMap<string, OvsdbRow>>

/** Changes by table, then by the ids of the rows. */
export type TableChanges = ReadonlyMap<string, ReadonlyMap<string, RowChange>>

/** Reads the changes of a message; throws for what is none. */
export function readChanges(updates: unknown): TableChanges {
  return new Map(
    Object.entries(objectOf(updates)).map(([table, rows]) => [
      table,
      new Map(Object.entries(objectOf(rows)).map(([id, change]) => [id, objectOf(change)])),
    ]),
  )
}

/** The rows that exist after changes to none. */
export function insertedRows(changes: TableChanges): TableRows {
  return new Map(
    [...changes].map(([table, rows]) => [
      table,
      new Map([...rows].flatMap(([id, { new: row }]) => (row === undefined ? [] : [[id, row]]))),
    ]),
  )
}

function objectOf(value: unknown): object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new Error('changes that are no object')
}
