/** Far below the 65,535 parameters of a statement, whatever the number of columns. */
const ROWS_PER_STATEMENT = 500

/** The rows in the parts that one statement each writes. */
export function* rowBatches<Row>(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let at = 0; at < rows.length; at += ROWS_PER_STATEMENT) {
    yield rows.slice(at, at + ROWS_PER_STATEMENT)
  }
}
