// The Temporal client. No call waits for an unreachable server.
import { Fault } from '@skerry/fault'
import {
  Client,
  Connection,
  isGrpcCancelledError,
  isGrpcDeadlineError,
  isGrpcServiceError,
  WorkflowExecutionAlreadyStartedError,
  WorkflowNotFoundError,
  type ConnectionLike,
} from '@temporalio/client'
import { NamespaceNotFoundError, type DataConverter } from '@temporalio/common'

import { isSameTls, tlsNow, type Certificates } from './tls.ts'

export interface TemporalOptions {
  /** host:port */
  readonly address: string
  readonly namespace: string
  /** Default: a plain connection. */
  readonly tls?: Certificates | undefined
  /** Timeout of a call, which then fails with `unavailable`; default: 3 s. */
  readonly callTimeoutMs?: number
  /** How values are written to histories; default: plain JSON. */
  readonly dataConverter?: DataConverter
}

export interface TemporalClient extends AsyncDisposable {
  readonly client: Client
  readonly namespace: string
  /**
   * Makes calls through the client, all within the timeout: `within(client => client.workflow.signalWithStart(…))`.
   * A server that is unreachable or silent, or does not know the namespace yet, gives a Fault `unavailable`; other errors are unchanged.
   */
  within<T>(work: (client: Client) => Promise<T>, timeoutMs?: number): Promise<T>
  close(): Promise<void>
}

const CALL_MS = 3_000
// With gRPC's defaults, a server that is back would be noticed up to two minutes late.
const RECONNECT_MS = { least: 100, most: 1_000 }
/** gRPC codes: unavailable, unknown (a broken connection), resource exhausted, aborted, internal (a broken stream). */
const passingCodes = new Set([14, 2, 8, 10, 13])

/** How long calls in progress over a connection with an older certificate may take. */
const RETIRE_MS = 30_000

/** Creates a client. It connects with the first call, so the server may be unreachable. */
export function connectTemporal(options: TemporalOptions): TemporalClient {
  const { namespace } = options
  let now = open(options)
  const retired = new Set<Connection>()
  /** The connection with the current certificate. */
  const current = () => {
    if (isSameTls(now.tls, tlsNow(options.tls))) return now.calls
    const before = now.connection
    now = open(options)
    retired.add(before)
    setTimeout(() => void close(before), RETIRE_MS).unref()
    return now.calls
  }
  const close = async (connection: Connection) => {
    if (retired.delete(connection) || connection === now.connection) await connection.close()
  }
  const closeAll = async () => {
    for (const each of [...retired, now.connection]) await close(each)
  }
  return {
    get client() {
      return current().client
    },
    within: (work, timeoutMs) => current().within(work, timeoutMs),
    namespace,
    close: closeAll,
    [Symbol.asyncDispose]: closeAll,
  }
}

function open(options: TemporalOptions) {
  const { address, callTimeoutMs = CALL_MS } = options
  const tls = tlsNow(options.tls)
  const connection = Connection.lazy({
    address,
    ...(tls !== undefined && { tls }),
    connectTimeout: callTimeoutMs,
    // Otherwise the client itself retries ten times, for 17 s in total, and ignores the abort signal.
    interceptors: [],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.least,
      'grpc.min_reconnect_backoff_ms': RECONNECT_MS.least,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.most,
      // The server rejects keep-alive pings more often than every 10 s.
      'grpc.keepalive_time_ms': 15_000,
      'grpc.keepalive_timeout_ms': 3_000,
    },
  })
  return { connection, tls, calls: callsOver(connection, options) }
}

/** Calls over a connection that the caller opens and closes. */
export function callsOver(
  connection: ConnectionLike,
  { address, namespace, callTimeoutMs = CALL_MS, dataConverter }: TemporalOptions,
): Pick<TemporalClient, 'client' | 'within'> {
  const client = new Client({ connection, namespace, ...(dataConverter && { dataConverter }) })
  return {
    client,
    async within(work, timeoutMs = callTimeoutMs) {
      try {
        return await inTime(timeoutMs, (signal) =>
          connection.withAbortSignal(signal, () => work(client)),
        )
      } catch (error) {
        throw unavailableFault(error, address)
      }
    },
  }
}

/** Whether a run with this id already exists. */
export const isAlreadyStarted = (error: unknown): boolean =>
  error instanceof WorkflowExecutionAlreadyStartedError

/** Whether no run with this id exists, or it has ended. */
export const isNoRun = (error: unknown): boolean => error instanceof WorkflowNotFoundError

/** At the timeout the client aborts the call in progress, but would start a later one, which would wait for ever. */
async function inTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    over.abort()
    late.reject(new DOMException('timed out', 'TimeoutError'))
  }, timeoutMs)
  try {
    return await Promise.race([work(over.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function unavailableFault(error: unknown, address: string): unknown {
  const cause = rootOf(error)
  // Temporal's services read the list of namespaces periodically, so a new one is unknown for some seconds.
  if (cause instanceof NamespaceNotFoundError) {
    return new Fault(
      'unavailable',
      `Temporal at ${address} does not have the namespace ${cause.namespace} yet`,
      {
        cause: error,
        hint: 'a worker creates it; try again in a few seconds',
      },
    )
  }
  const passes =
    isGrpcCancelledError(cause) ||
    isGrpcDeadlineError(cause) ||
    (isGrpcServiceError(cause) && passingCodes.has(cause.code)) ||
    (cause instanceof Error && ['AbortError', 'TimeoutError'].includes(cause.name))
  if (!passes) return error
  return new Fault('unavailable', `Temporal at ${address} does not answer`, {
    cause: error,
    hint: 'the request is stored and continues when Temporal is back',
  })
}

/** The client wraps gRPC errors in its own. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'ServiceError' && error.cause !== undefined
    ? rootOf(error.cause)
    : error
}
