export { handOver, userIn, type User } from './hand-over/hand-over.ts'
export {
  northboundWords,
  northdWords,
  ovnFiles,
  ovnHostsRemote,
  ovnPrograms,
  ovnSchemas,
  southboundWords,
  type OvnPlace,
} from './ovn-settings.ts'
export { isFreePort } from './port.ts'
export { postgresWords, type PostgresPlace } from './postgres-settings.ts'
export {
  temporalCertificates,
  temporalDatabases,
  temporalDynamicSettings,
  temporalPorts,
  temporalSettings,
  type TemporalPlace,
} from './temporal-settings.ts'
export {
  packagedTemporal,
  temporalBuild,
  temporalFiles,
  temporalVersion,
  whyNotGo,
} from './temporal-build.ts'
