export type { OvsdbAddress } from './address.ts'
export type { RowChange, TableChanges, TableRows } from './changes.ts'
export { ConnectionLost, Refused } from './error.ts'
export type { OperationResult, OvsdbCondition, OvsdbMutation, OvsdbOperation } from './operation.ts'
export { Ovsdb, type OvsdbOptions } from './ovsdb.ts'
export {
  canonical,
  map,
  mapOf,
  namedUuid,
  set,
  setOf,
  uuid,
  uuidOf,
  type OvsdbAtom,
  type OvsdbRow,
  type OvsdbValue,
} from './values.ts'
