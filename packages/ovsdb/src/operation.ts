// The operations of a transaction (RFC 7047, section 5.2).
import type { OvsdbRow, OvsdbValue } from './values.ts'

/** All conditions of a list must hold; an empty list selects every row. */
export type OvsdbCondition = readonly [
  column: string,
  comparison: '<' | '<=' | '==' | '!=' | '>=' | '>' | 'includes' | 'excludes',
  value: OvsdbValue,
]

export type OvsdbMutation = readonly [
  column: string,
  mutator: '+=' | '-=' | '*=' | '/=' | '%=' | 'insert' | 'delete',
  value: OvsdbValue,
]

interface OnRows {
  readonly table: string
  readonly where: readonly OvsdbCondition[]
}

export type OvsdbOperation =
  | {
      readonly op: 'insert'
      readonly table: string
      readonly row: OvsdbRow
      /** The id of the new row. Open vSwitch 2.15 and newer; default: chosen by the server. */
      readonly uuid?: string
      /** A name for the new row within this transaction, for `namedUuid`. */
      readonly 'uuid-name'?: string
    }
  | ({ readonly op: 'select'; readonly columns?: readonly string[] } & OnRows)
  | ({ readonly op: 'update'; readonly row: OvsdbRow } & OnRows)
  | ({ readonly op: 'mutate'; readonly mutations: readonly OvsdbMutation[] } & OnRows)
  | ({ readonly op: 'delete' } & OnRows)
  | ({
      /** Waits until the selected rows are, or are not, these. The transaction is refused when the time is over. */
      readonly op: 'wait'
      readonly columns: readonly string[]
      readonly until: '==' | '!='
      readonly rows: readonly OvsdbRow[]
      /** Milliseconds. 0: only a check. Default: waits forever. */
      readonly timeout?: number
    } & OnRows)
  /** With `durable`, the answer comes after the transaction is on disk. */
  | { readonly op: 'commit'; readonly durable: boolean }
  | { readonly op: 'abort' }
  /** A text for the server's log of transactions. */
  | { readonly op: 'comment'; readonly comment: string }
  | { readonly op: 'assert'; readonly lock: string }

/** The result of one operation; which fields it has depends on the operation. */
export interface OperationResult {
  /** The number of rows that an update, a mutate or a delete matched. */
  readonly count?: number
  /** The id of an inserted row. */
  readonly uuid?: OvsdbValue
  /** The rows of a select. */
  readonly rows?: readonly OvsdbRow[]
}
