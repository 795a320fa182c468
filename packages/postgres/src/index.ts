// @skerry/postgres: connection pools, migrations, tenant transactions, fencing tokens.
export { inOrg, openTenants, TenantPool } from './in-org.ts'
export { keepLogins, ownLogin, urlFor, type Login, type OwnLogin } from './logins.ts'
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
export { ping } from './ping.ts'
export { Pools, type PoolCount } from './pools.ts'
export { prepareDatabase } from './prepare.ts'
export { openReader, Reader, type Asking } from './reader.ts'
export { scramVerifier } from './scram.ts'
export { brokenConstraint, isMisfit, toFault, tookTooLong } from './sqlstate.ts'
