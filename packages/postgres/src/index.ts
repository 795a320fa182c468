// @skerry/postgres: connection pools, migrations, tenant transactions, fencing tokens.
export { inOrg, openTenants, TenantPool } from './in-org.ts'
export { keepLogins, ownLogin, urlFor, type Login, type OwnLogin } from './logins.ts'
export {
  type FencingTokenParts as NumberParts,
  partsOf,
  raiseAbove,
  raiseEra,
} from './fencing-token.ts'
export { type DatabaseOptions, openDatabase } from './open.ts'
export { ping } from './ping.ts'
export { Pools, type PoolCount } from './pools.ts'
export { prepareDatabase } from './prepare.ts'
export { openReader, type SnapshotReader } from './reader.ts'
export { scramVerifier } from './scram.ts'
export { brokenConstraint, isMisfit, tookTooLong } from './sqlstate.ts'
