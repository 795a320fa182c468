// @skerry/lab: real hosts, real guests and real daemons for tests, and `npm run lab`.
export type { Balancer, BalancerOptions, Target } from './servers/balancer.ts'
export { startBalancer } from './servers/balancer.ts'
export type { BalancerProcess } from './servers/balancer-process.ts'
export { startBalancerProcess } from './servers/balancer-process.ts'
export type { Administer } from './cloud/administer.ts'
export type { LabCell } from './cloud/cell.ts'
export type { LabConsole } from './cloud/console.ts'
export type { LabServer } from './servers/server-process.ts'
export type { CloudReport, LabCloud } from './cloud/cloud.ts'
export { listHosts, untilOpen, type HostRow } from './cloud/join-hosts.ts'
export { killEngines } from './servers/daemon.ts'
export { BROWSER } from './system/browser.ts'
export type { FreshDatabase } from './postgres/fresh-database.ts'
export { freshDatabase } from './postgres/fresh-database.ts'
export { startIssuer, type KeyPair, type TestIssuer } from './network/certificates.ts'
export { freePorts } from './network/ports.ts'
export { startDirectory, type Directory } from './servers/directory.ts'
export { activeDirectory } from './identity/samba-tree.ts'
export { startKeycloak, type Keycloak } from './identity/keycloak.ts'
export { startSamba, type Samba } from './identity/samba.ts'
export { startOpenIdServer, type OpenIdServer } from './servers/openid-server.ts'
export { debianImagePlace, guestImage } from './host/guest-image.ts'
export type { HostOptions, LabHost } from './host/host.ts'
export { startHost } from './host/host.ts'
export type { SwitchDaemon, SwitchReport } from './host/open-vswitch.ts'
export type { HostReport, Lab, LabReport } from './lab.ts'
export { startLab } from './lab.ts'
export type { Libvirt } from './host/libvirt.ts'
export { startLibvirt } from './host/libvirt.ts'
export {
  missingPackages,
  reasonToSkip,
  reasonWithoutRoot,
  requirePrograms,
} from './system/packages.ts'
export type { Use } from './system/packages.ts'
export type { Postgres, PostgresOptions, Prepare, Prepared } from './postgres/postgres.ts'
export { startPostgres } from './postgres/postgres.ts'
export { pythonWith } from './system/python.ts'
export type { Outcome } from './system/run.ts'
export type { Temporal, TemporalOptions } from './temporal/temporal.ts'
export { startTemporal } from './temporal/temporal.ts'
export type { Login, Tenant } from './cloud/tenants.ts'
export { reasonWithoutTemporal, temporalPrograms } from './temporal/temporal-build.ts'
export {
  greetingLength,
  simulatedScreen,
  VIEWER_HELLO,
  type SimulatedScreenOptions,
} from './host/simulated-screen.ts'
export { until } from './system/wait.ts'
export type { LabWorkflow } from './cloud/workflow.ts'
