// A worker that is there whenever Temporal is, whichever of them started first.
import { setTimeout as sleep } from 'node:timers/promises'

import type { DataConverter } from '@temporalio/common'
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
} from '@temporalio/worker'

import { aroundActivities } from './beat.ts'
import type { TemporalClient, TemporalOptions } from './connect.ts'
import { callsOver, connectTemporal } from './connect.ts'
import { ensureNamespace } from './namespace.ts'

export interface WorkerOptions extends TemporalOptions {
  readonly taskQueue: string
  /** The file that exports the workflows, bundled once per process; or a bundle that was made before. */
  readonly workflows: { readonly path: string } | { readonly bundle: string }
  /** Functions by name. A Fault that one throws reaches the workflow as a failure of that type. */
  readonly activities: object
  /** What the log should hear of: activities that failed, a worker that has to begin again. */
  readonly say: (what: string, cause: unknown) => void
  /** How long steps under way may take to end when the worker is stopped; 5 s unless told. */
  readonly graceMs?: number
  readonly identity?: string
}

/** Calls over a worker's own connection. */
export type NearClient = Pick<TemporalClient, 'client' | 'within'>

export interface RunningWorker extends AsyncDisposable {
  /**
   * The way to Temporal that the worker has, while it has one. A run that is started over it with `requestEagerStart` comes
   * back with its first turn in the answer: this worker takes it without asking for it.
   */
  near(): NearClient | undefined
  /** Resolves when it takes work for the first time; rejects when the workflows cannot be bundled. */
  readonly ready: Promise<void>
  /** Takes no new work, lets what runs come to an end within the grace, and stops; all of it goes on elsewhere. */
  stop(): Promise<void>
}

const AGAIN_MS = 500
const GRACE_MS = 5_000
const FORCE_MS = 2_000
/** How often a worker looks whether its namespace is still there. */
const NAMESPACE_MS = 5_000

const bundles = new Map<string, Promise<string>>()

/** The workflows of a file as one piece of code, made once per process. TypeScript is read as it is. */
export async function bundleWorkflows(path: string, converter?: DataConverter): Promise<string> {
  const found = bundles.get(path) ?? makeBundle(path, converter?.failureConverterPath)
  bundles.set(path, found)
  return found
}

async function makeBundle(path: string, failureConverterPath?: string): Promise<string> {
  const logger = new DefaultLogger('ERROR')
  const { code } = await bundleWorkflowCode({
    ...{ workflowsPath: path, logger },
    ...(failureConverterPath !== undefined && { failureConverterPath }),
  })
  return code
}

/** Starts a worker and answers at once: it comes up when Temporal does, and again after each time that Temporal was away. */
export function runWorker(options: WorkerOptions): RunningWorker {
  installRuntime()
  const stopping = new AbortController()
  const ready = Promise.withResolvers<void>()
  // A worker that is stopped before it ever came up is nobody's error.
  ready.promise.catch(() => undefined)
  let near: NearClient | undefined
  const up = (client: NearClient) => {
    near = client
    ready.resolve()
  }
  const down = () => (near = undefined)
  const ended = keepRunning(options, stopping.signal, { up, down }).then(
    () => ready.reject(new Error('the worker was stopped before it came up')),
    // Workflows that cannot be bundled: whoever waits for the worker hears of it.
    (error: unknown) => ready.reject(error),
  )
  const stop = async () => {
    stopping.abort()
    await ended
  }
  return { near: () => near, ready: ready.promise, stop, [Symbol.asyncDispose]: stop }
}

/** Once per process, before anything else: signals are the program's own business, and so is the log. */
let installed = false
function installRuntime(): void {
  if (installed) return
  installed = true
  Runtime.install({ shutdownSignals: [], logger: new DefaultLogger('ERROR') })
}

interface Told {
  readonly up: (near: NearClient) => void
  readonly down: () => void
}

async function keepRunning(
  options: WorkerOptions,
  stopping: AbortSignal,
  told: Told,
): Promise<void> {
  const { workflows, dataConverter } = options
  const code =
    'bundle' in workflows ? workflows.bundle : await bundleWorkflows(workflows.path, dataConverter)
  await using temporal = connectTemporal(options)
  const keeping = keepNamespace(temporal, stopping)
  while (!stopping.aborted) {
    try {
      await ensureNamespace(temporal, { signal: stopping })
      await runOnce(options, code, stopping, told)
    } catch (error) {
      if (stopping.aborted) break
      options.say('the worker lost Temporal and begins again', error)
      await sleep(AGAIN_MS, undefined, { signal: stopping }).catch(() => undefined)
    }
  }
  await keeping
}

/** Temporal's database may be lost under a worker that goes on asking for work; nothing is found there before the namespace is. */
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
  { up, down }: Told,
): Promise<void> {
  const connection = await NativeConnection.connect({
    address: options.address,
    ...(options.tls !== undefined && { tls: options.tls }),
  })
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
      // A turn of a run lasts as long as its quick steps: as many turns as quick steps at once. Of the default of 40, two hosts that
      // do not answer could hold all.
      maxConcurrentWorkflowTaskExecutions: 100,
      maxConcurrentLocalActivityExecutions: 100,
      // The next workflow task of a dead worker's run goes to another one after this; 10 s is the default.
      stickyQueueScheduleToStartTimeout: '2s',
      maxHeartbeatThrottleInterval: '2s',
      shutdownGraceTime: options.graceMs ?? GRACE_MS,
      // A quick step that is tried again and again would hold the end up for ever.
      shutdownForceTime: (options.graceMs ?? GRACE_MS) + FORCE_MS,
      // A run whose history does not fit the code fails instead of hanging for ever: the next ring starts the new code.
      workflowFailureErrorTypes: { '*': ['NondeterminismError', 'DeterminismViolationError'] },
    })
    const running = worker.run()
    const shutDown = () => {
      if (worker.getState() === 'RUNNING') worker.shutdown()
    }
    stopping.addEventListener('abort', shutDown, { once: true })
    if (stopping.aborted) shutDown()
    up(callsOver(connection, options))
    try {
      await running
    } finally {
      down()
      stopping.removeEventListener('abort', shutDown)
    }
  } finally {
    await connection.close()
  }
}
