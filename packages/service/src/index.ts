export { askEgress, isRefusal, type EgressAnswer, type EgressRequest } from './http/ask-egress.ts'
export {
  boundedListener,
  createApiServer,
  showCertificate,
  unreadable,
  type ApiServerOptions,
  type ListenerTls,
} from './http/api-server.ts'
export { json, word } from './http/body.ts'
export { readBasic, type BasicCredentials } from './identity/basic-credentials.ts'
export { bundle, splitBundle, type KeyAndCert } from './identity/bundle.ts'
export { Conditions, type Condition, type OnChange } from './metrics/conditions.ts'
export { configShape, Listener, TemporalServer, type ConfigShape } from './files/config-file.ts'
export {
  HealthListener,
  healthPorts,
  healthServer,
  openHealth,
  type HealthContext,
} from './metrics/health.ts'
export {
  closeListener,
  decoded,
  internalFault,
  pathOf,
  readJson,
  refuseWrite,
  sendJson,
  sendJsonLine,
  serveJson,
  urlOf,
} from './http/json-server.ts'
export {
  fingerprintOf,
  isIssuedBy,
  issueCertificate,
  makeIssuer,
  makeKey,
  makeRequest,
  publicKeyOf,
  readRequest,
  type Issuer,
  type NewCertificate,
  type Span,
} from './identity/issuer.ts'
export { listenAddress, type ListenAddress } from './http/listen-address.ts'
export {
  createListener,
  createSecureListener,
  markAuthenticated,
  type ListenerOptions,
} from './http/listener.ts'
export { listenerBounds, type ListenerBounds } from './http/listener-bounds.ts'
export { measureRequests } from './metrics/measure-requests.ts'
export {
  measuredServers,
  metricReference,
  metricTable,
  type MeasuredServer,
  type MetricRow,
} from './metrics/metric-table.ts'
export { Metrics, metricsType, type Labels, type MetricSample } from './metrics/metrics.ts'
export { mount, type Edge } from './http/mount.ts'
export { networkOf } from './http/network-of.ts'
export {
  openApi,
  pathNames,
  type About,
  type ApiDetails,
  type ContentTypes,
  type DescribedRow,
} from './http/openapi.ts'
export {
  loadPageFiles,
  pageHeaders,
  pageResponse,
  pagesNotBuilt,
  type PageFile,
  type PageFiles,
  type PageResponse,
} from './http/page-files.ts'
export { cookieIn, isFromPage } from './http/page-request.ts'
export { isPublic, plainAddress } from './http/public-address.ts'
export { rawResponse, refuseUnread } from './http/raw-response.ts'
export { readBytes } from './http/read-bytes.ts'
export { isDue, keepRenewed, lifetimes, spanFrom, type Renewal } from './identity/renewal.ts'
export {
  fill,
  routeFactory,
  type Answer,
  type RouteRequest,
  type Body,
  type Names,
  type Params,
  type Route,
} from './http/route.ts'
export { ServerMeter, type MeteredPool } from './metrics/server-meter.ts'
export { makeSeal, type Seal } from './identity/seal.ts'
export {
  keepServerIdentity,
  identityFiles,
  type ServerIdentityOptions,
  type RenewedIdentity,
  type ServerIdentity,
} from './identity/server-identity.ts'
export { eventStream, streamHeaders, type Message, type StreamOptions } from './http/sse.ts'
export { every } from './process/every.ts'
export {
  readOptions,
  runProgram,
  type RunningProgram,
  type MainProgram,
} from './process/run-program.ts'
export type { Clock, Ids } from './clock-and-ids.ts'
