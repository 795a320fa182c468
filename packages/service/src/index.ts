export { json, word } from './body.ts'
export { bundle, splitBundle, type Shown } from './bundle.ts'
export { configShape, Listener, type ConfigShape } from './config-file.ts'
export { renameDurably, writeDurably } from './durable-file.ts'
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
} from './issuer.ts'
export { listenAddress, type ListenAddress } from './listen-address.ts'
export { Metrics, metricsType, type Labels, type Sample } from './metrics.ts'
export { mount, type Edge } from './mount.ts'
export { openApi, pathNames, type About, type DescribedRow } from './openapi.ts'
export { isDue, keepRenewed, lifetimes, spanFrom, type Renewal } from './renewal.ts'
export {
  fill,
  rowsOf,
  type Answer,
  type Ask,
  type Body,
  type Names,
  type Params,
  type Route,
} from './route.ts'
export { makeSeal, type Seal } from './seal.ts'
export {
  keepShown,
  shownFiles,
  type KeepingShown,
  type KeptIdentity,
  type ShownIdentity,
} from './shown-identity.ts'
export { eventStream, streamHeaders, type Message, type StreamOptions } from './sse.ts'
export type { Clock, Ids } from './world.ts'
