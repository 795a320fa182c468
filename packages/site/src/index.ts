export { isFreePort } from './port.ts'
export { postgresWords, type PostgresPlace } from './postgres-settings.ts'
export {
  temporalDatabases,
  temporalDynamicSettings,
  temporalPorts,
  temporalSettings,
  type TemporalPlace,
} from './temporal-settings.ts'
export { temporalBuild, temporalFiles, temporalVersion, whyNotGo } from './temporal-build.ts'
