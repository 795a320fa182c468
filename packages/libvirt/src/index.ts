export type { CallOptions } from './calls.ts'
export {
  Connection,
  type MonitorEventOptions,
  type OpenOptions,
  type SubscribeOptions,
} from './connection.ts'
export * from './constants.gen.ts'
export {
  AuthenticationNeeded,
  CallAborted,
  CallTimedOut,
  EventsLost,
  LibvirtError,
  LinkLost,
  ProtocolError,
} from './error.ts'
export type { DomainEventSubscription } from './events.ts'
export type { KeepaliveSettings } from './keepalive.ts'
export type { DomainEvent, Procedure, StreamProcedure } from './procedure.ts'
export * from './procedures.gen.ts'
export { STREAM_WINDOW_BYTES, type LibvirtStream } from './stream.ts'
export { systemTimers, type Timers } from './timers.ts'
export { memoryPair, unixSocket, type Receiver, type Transport } from './transport.ts'
export {
  param,
  paramsToMap,
  readCount,
  readParam,
  readText,
  type TypedParam,
  type TypedValue,
} from './typed-params.ts'
export { uuidFromString, uuidToString } from './uuid.ts'
export { XdrError, type Codec, type XdrShape, type Value } from './xdr.ts'
