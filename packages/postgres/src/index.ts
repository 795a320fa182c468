// @skerry/postgres: opens, migrates, acts as a tenant, counts.
export { inOrg, openTenants, TenantPool } from './in-org.ts'
export { migrate } from './migrate.ts'
export {
  compareNumbers,
  drawNumber,
  type NumberParts,
  partsOf,
  raiseAbove,
  raiseEra,
} from './number.ts'
export { type DatabaseOptions, openDatabase } from './open.ts'
export { prepareDatabase } from './prepare.ts'
export { openReader, Reader, type Asking } from './reader.ts'
export { brokenConstraint, isMisfit, toFault, tookTooLong } from './sqlstate.ts'
