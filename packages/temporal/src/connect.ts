// The way to Temporal for those who ask it something. Nothing waits for a server that is away.
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
  type TLSConfig,
} from '@temporalio/client'
import { NamespaceNotFoundError, type DataConverter } from '@temporalio/common'

export interface TemporalOptions {
  /** host:port */
  readonly address: string
  readonly namespace: string
  readonly tls?: TLSConfig
  /** How long a call may take before it fails with `unavailable`; 3 s unless told. */
  readonly callTimeoutMs?: number
  /** How values are written to histories; as plain JSON unless told. */
  readonly dataConverter?: DataConverter
}

export interface TemporalClient extends AsyncDisposable {
  readonly client: Client
  readonly namespace: string
  /**
   * Makes calls through the client, all within the time-out: `within(client => client.workflow.signalWithStart(…))`.
   * A server that is away or silent, or has not heard of the namespace yet, is a Fault `unavailable`; other errors come as they are.
   */
  within<T>(work: (client: Client) => Promise<T>, timeoutMs?: number): Promise<T>
  close(): Promise<void>
}

const CALL_MS = 3_000
// gRPC's own would wait up to two minutes before it looks again for a server that has long been back.
const RECONNECT_MS = { least: 100, most: 1_000 }
/** gRPC's numbers for: unavailable, unknown (a broken link), resource exhausted, aborted, internal (a broken stream). */
const passingCodes = new Set([14, 2, 8, 10, 13])

/** Makes a client. Nothing is connected before the first call, so the server may be away. */
export function connectTemporal(options: TemporalOptions): TemporalClient {
  const { address, namespace, tls, callTimeoutMs = CALL_MS } = options
  const connection = Connection.lazy({
    address,
    ...(tls !== undefined && { tls }),
    connectTimeout: callTimeoutMs,
    // Without this the client itself tries ten times, for 17 s in all, and does not hear that it was told to stop.
    interceptors: [],
    channelArgs: {
      'grpc.initial_reconnect_backoff_ms': RECONNECT_MS.least,
      'grpc.min_reconnect_backoff_ms': RECONNECT_MS.least,
      'grpc.max_reconnect_backoff_ms': RECONNECT_MS.most,
      // More often than each 10 s the server takes for an attack.
      'grpc.keepalive_time_ms': 15_000,
      'grpc.keepalive_timeout_ms': 3_000,
    },
  })
  const close = () => connection.close()
  return {
    ...callsOver(connection, options),
    namespace,
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Calls over a connection that somebody else opened and will close. */
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
        throw away(error, address)
      }
    },
  }
}

/** That a run of this name is there already. */
export const isAlreadyStarted = (error: unknown): boolean =>
  error instanceof WorkflowExecutionAlreadyStartedError

/** That no run of this name is there, or that it has ended. */
export const isNoRun = (error: unknown): boolean => error instanceof WorkflowNotFoundError

/** The client stops the call that is under way when the time is over, but would let a later one begin and wait for ever. */
async function inTime<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const over = new AbortController()
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    over.abort()
    late.reject(new DOMException('the time is over', 'TimeoutError'))
  }, timeoutMs)
  try {
    return await Promise.race([work(over.signal), late.promise])
  } finally {
    clearTimeout(timer)
  }
}

function away(error: unknown, address: string): unknown {
  const cause = rootOf(error)
  // Each service of it reads the list of namespaces now and then, so that a new one is unknown for some seconds.
  if (cause instanceof NamespaceNotFoundError) {
    return new Fault('unavailable', `Temporal at ${address} has no ${cause.namespace} yet`, {
      cause: error,
      hint: 'a worker makes it; ask again in a few seconds',
    })
  }
  const passes =
    isGrpcCancelledError(cause) ||
    isGrpcDeadlineError(cause) ||
    (isGrpcServiceError(cause) && passingCodes.has(cause.code)) ||
    (cause instanceof Error && ['AbortError', 'TimeoutError'].includes(cause.name))
  if (!passes) return error
  return new Fault('unavailable', `Temporal at ${address} does not answer`, {
    cause: error,
    hint: 'what was asked is kept and goes on when it is back',
  })
}

/** The client wraps what gRPC said in errors of its own. */
function rootOf(error: unknown): unknown {
  return error instanceof Error && error.name === 'ServiceError' && error.cause !== undefined
    ? rootOf(error.cause)
    : error
}
