// A worker that runs whenever Temporal is reachable, in any start order.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

import { aroundActivities } from './beat.ts'
import { bundleWorkflows } from './bundle.ts'
import type { TemporalClient, TemporalOptions } from './connect.ts'
import { callsOver, connectTemporal } from './connect.ts'
import { ensureNamespace } from './namespace.ts'
import { isSameTls, tlsNow } from './tls.ts'

export interface WorkerOptions extends TemporalOptions {
  readonly taskQueue: string
  /** The file that exports the workflows, bundled once per process; or an existing bundle. */
  readonly workflows: { readonly path: string } | { readonly bundle: string }
  /** Functions by name. A Fault reaches the workflow as a failure of that type. */
  readonly activities: object
  /** Logs failed activities and restarts of the worker. */
  readonly say: (what: string, cause: unknown) => void
  /** How long running steps may take to end when the worker is stopped; default: 5 s. */
  readonly graceMs?: number
  readonly identity?: string
  /** How often it checks whether the certificate was renewed; default: 10 s. */
  readonly certificateMs?: number
  /** Whether it takes no work before `resume`; default: false. */
  readonly paused?: boolean
}

/** Calls over a worker's own connection. */
export type NearClient = Pick<TemporalClient, 'client' | 'within'>

export interface RunningWorker extends AsyncDisposable {
  /**
   * The worker's own connection to Temporal, while it has one. A run that is started over it with `requestEagerStart` returns its
   * first workflow task in the response: this worker runs it without polling.
   */
  near(): NearClient | undefined
  /** Resolves when it starts to take work; rejects if the workflows cannot be bundled. */
  readonly ready: Promise<void>
  /** Takes no new work, lets running work end within the grace period, and stops; the rest continues at other workers. */
  stop(): Promise<void>
  /** The same until `resume`: started work continues at other workers. */
  pause(): void
  resume(): void
}

const AGAIN_MS = 500
const GRACE_MS = 5_000
const FORCE_MS = 2_000
/** How often a worker checks that its namespace still exists. */
const NAMESPACE_MS = 5_000
const CERTIFICATE_MS = 10_000
/** Longer than a poll of a worker, which lasts a minute. */
const RETIRE_MS = 90_000

/** Starts a worker and returns at once: it runs when Temporal is reachable, and again after each outage of Temporal. */
export function runWorker(options: WorkerOptions): RunningWorker {
  installRuntime()
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  // Stopping a worker before it ever ran is not an error.
  ready.promise.catch(() => undefined)
  let near: NearClient | undefined
  const up = (client: NearClient) => {
    near = client
    ready.resolve()
  }
  const down = () => (near = undefined)
  const gate = new Gate(options.paused ?? false)
  const ended = keepRunning(options, stopping.signal, { up, down, gate }).then(
    () => ready.reject(new Error('the worker was stopped before it was ready')),
    // The workflows cannot be bundled: `ready` rejects.
    (error: unknown) => ready.reject(error),
  )
  const stop = async () => {
    stopping.abort()
    await ended
  }
  return {
    near: () => near,
    ready: ready.promise,
    stop,
    [Symbol.asyncDispose]: stop,
    pause: () => gate.close(),
    resume: () => gate.open(),
  }
}

/** Whether a worker may take work now. */
class Gate {
  #closing = new AbortController()
  #opening = Promise.withResolvers<void>()

  constructor(isClosed: boolean) {
    if (isClosed) this.#closing.abort()
    else this.#opening.resolve()
  }

  /** Aborted while the gate is closed. */
  get closed(): AbortSignal {
    return this.#closing.signal
  }

  close(): void {
    if (this.closed.aborted) return
    this.#opening = Promise.withResolvers()
    this.#closing.abort()
  }

  open(): void {
    if (!this.closed.aborted) return
    this.#closing = new AbortController()
    this.#opening.resolve()
  }

  /** Returns once it is open, or when the signal is aborted. */
  async passed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const left = new AbortController()
    const aborted = once(signal, 'abort', { signal: left.signal }).catch(() => undefined)
    await Promise.race([this.#opening.promise, aborted])
    left.abort()
  }
}

/** Once per process, before anything else: the program itself handles signals and the log. */
let installed = false
function installRuntime(): void {
  if (installed) return
  installed = true
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
}

interface StateListener {
  readonly up: (near: NearClient) => void
  readonly down: () => void
  readonly gate: Gate
}

async function keepRunning(
  options: WorkerOptions,
  stopping: AbortSignal,
  listener: StateListener,
): Promise<void> {
  const { workflows, dataConverter } = options
  const code =
    'bundle' in workflows ? workflows.bundle : await bundleWorkflows(workflows.path, dataConverter)
  await using temporal = connectTemporal(options)
  const keeping = keepNamespace(temporal, stopping)
  while (!stopping.aborted) {
    await listener.gate.passed(stopping)
    if (stopping.aborted) break
    const over = AbortSignal.any([stopping, listener.gate.closed])
    try {
      await ensureNamespace(temporal, { signal: over })
      await runOnce(options, code, over, listener)
    } catch (error) {
      if (stopping.aborted) break
      if (over.aborted) continue
      options.say('the worker lost the connection to Temporal and restarts', error)
      await sleep(AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  await keeping
}

/** Temporal's database may be lost while a worker keeps polling; it gets no work until the namespace exists again. */
async function keepNamespace(temporal: TemporalClient, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted) {
    await sleep(NAMESPACE_MS, undefined, { signal: stopping }).catch(() => undefined)
    if (!stopping.aborted) await ensureNamespace(temporal, { patienceMs: 0 }).catch(() => undefined)
  }
}

async function runOnce(
  options: WorkerOptions,
  code: string,
  stopping: AbortSignal,
  { up, down }: StateListener,
): Promise<void> {
  let shown = await connectWorker(options)
  const { connection } = shown
  try {
    const worker = await Worker.create({
      connection,
      namespace: options.namespace,
      taskQueue: options.taskQueue,
      workflowBundle: { code },
      activities: options.activities,
      ...(options.dataConverter && { dataConverter: options.dataConverter }),
      ...(options.identity !== undefined && { identity: options.identity }),
      interceptors: {
        activity: [aroundActivities((error, activity) => options.say(`${activity} failed`, error))],
      },
      // A workflow task lasts as long as its quick steps, so both limits are equal. With the default of 40, two hosts that do not
      // answer could occupy all slots.
      maxConcurrentWorkflowTaskExecutions: 100,
      maxConcurrentLocalActivityExecutions: 100,
      // The next workflow task of a dead worker's run goes to another worker after this time; the default is 10 s.
      stickyQueueScheduleToStartTimeout: '2s',
      maxHeartbeatThrottleInterval: '2s',
      shutdownGraceTime: options.graceMs ?? GRACE_MS,
      // A quick step that is retried again and again would delay the shutdown for ever.
      shutdownForceTime: (options.graceMs ?? GRACE_MS) + FORCE_MS,
      // A run whose history is incompatible with the code fails instead of hanging for ever: the next wake-up starts the new code.
      workflowFailureErrorTypes: { '*': ['NondeterminismError', 'DeterminismViolationError'] },
    })
    const running = worker.run()
    const shutDown = () => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    stopping.addEventListener('abort', shutDown, { once: true })
    if (stopping.aborted) shutDown()
    up(callsOver(connection, options))
    const renewing = keepCertificate(
      options,
      worker,
      () => shown,
      (fresh) => {
        shown = fresh
        up(callsOver(fresh.connection, options))
      },
    )
    try {
      await running
    } finally {
      await renewing[Symbol.asyncDispose]()
      down()
      stopping.removeEventListener('abort', shutDown)
    }
  } finally {
    await shown.connection.close()
  }
}

interface WorkerConnection {
  readonly connection: NativeConnection
  readonly tls: ReturnType<typeof tlsNow>
}

async function connectWorker({ address, tls: given }: WorkerOptions): Promise<WorkerConnection> {
  const tls = tlsNow(given)
  const connection = await NativeConnection.connect({ address, ...(tls !== undefined && { tls }) })
  return { connection, tls }
}

/**
 * A worker reconnects by itself, but with its original certificate. So it gets a new connection after a renewal of the
 * certificate; polls over the older one may end.
 */
function keepCertificate(
  options: WorkerOptions,
  worker: Worker,
  current: () => WorkerConnection,
  replaced: (fresh: WorkerConnection) => void,
): AsyncDisposable {
  const older: { readonly connection: NativeConnection; readonly since: number }[] = []
  const look = async () => {
    if (!isSameTls(current().tls, tlsNow(options.tls))) {
      const before = current().connection
      const fresh = await connectWorker(options)
      try {
        worker.connection = fresh.connection
      } catch (error) {
        await fresh.connection.close()
        throw error
      }
      older.push({ connection: before, since: performance.now() })
      replaced(fresh)
    }
    const [first] = older
    if (first && performance.now() - first.since > RETIRE_MS) {
      older.shift()
      await first.connection.close()
    }
  }
  const over = new AbortController()
  const looking = (async () => {
    while (!over.signal.aborted) {
      await look().catch((error: unknown) =>
        options.say('cannot reconnect to Temporal with the renewed certificate; will retry', error),
      )
      const pause = options.certificateMs ?? CERTIFICATE_MS
      await sleep(pause, undefined, { signal: over.signal }).catch(() => undefined)
    }
  })()
  return {
    async [Symbol.asyncDispose]() {
      over.abort()
      await looking
      await Promise.allSettled(older.map(({ connection }) => connection.close()))
    },
  }
}
