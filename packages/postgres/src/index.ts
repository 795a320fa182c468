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
export { brokenConstraint, toFault } from './sqlstate.ts'
