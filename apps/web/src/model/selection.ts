// The selected rows of a list: some of them, or all that match a filter.

export interface Chosen<Row> {
  readonly rows: ReadonlyMap<string, Row>
  /** The filter whose rows are all selected, whether they were read or not. */
  readonly allOf: string | undefined
}

export const noneChosen: Chosen<never> = { rows: new Map<string, never>(), allOf: undefined }

/**
 * Selects a row, or no longer selects it. While all rows of the filter are selected, it only clears the selection: "all but this one"
 * cannot be asked of the server, and "this one" is the opposite of what the user wants.
 */
export function toggleRow<Row extends { readonly id: string }>(
  { rows, allOf }: Chosen<Row>,
  row: Row,
  filter: string,
): Chosen<Row> {
  if (allOf === filter) return noneChosen
  const next = new Map(rows)
  if (!next.delete(row.id)) next.set(row.id, row)
  return { rows: next, allOf: undefined }
}
