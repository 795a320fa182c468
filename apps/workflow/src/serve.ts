import { X509Certificate } from 'node:crypto'

import { admitPeers, whoIsPeer, type Epochs } from '@skerry/host-api'
import { startEvaluator, type Evaluator } from '@skerry/jq'
import {
  type Clock,
  Conditions,
  makeSeal,
  measureRequests,
  openHealth,
  showCertificate,
  type Seal,
} from '@skerry/service'
import {
  certificatesFor,
  connectTemporal,
  isReached,
  type TemporalClient,
  type TemporalOptions,
} from '@skerry/temporal'
import type { FastifyInstance } from 'fastify'

import { checkCredentials, findSession, readStamp } from './cloud/accounts.ts'
import { Cells } from './cloud/cells.ts'
import { askGrant, endGrant } from './cloud/grants.ts'
import { openIdentity, type WorkflowIdentity } from './cloud/identity.ts'
import type { WorkflowConfig } from './config.ts'
import type { Grants, WorkflowRequestContext, Runs } from './context.ts'
import { functions } from './functions/functions.ts'
import { CachingAuthenticator } from './http/authenticator.ts'
import { byPassword, bySession } from './http/identify.ts'
import { PageSessions } from './http/page-sessions.ts'
import { buildServer, type WorkflowServerOptions } from './http/server.ts'
import { OpenStreams } from './identity/open-streams.ts'
import { WorkflowMeter } from './meter.ts'
import { routes } from './routes.ts'
import { sealedConverter } from './runs/codec.ts'
import { keepRuns } from './runs/keep-runs.ts'
import { makeWorkerContext } from './runs/make-context.ts'
import { makeRuns } from './runs/make-runs.ts'
import { startRunWorker } from './runs/start-worker.ts'
import { tendRuns } from './runs/tend-runs.ts'
import { serverLogins } from './store/acting-as.ts'
import { openStore, untilPrepared, type Store } from './store/open-store.ts'
import { readRunFigures } from './store/run-figures.ts'

export interface ServerContext {
  readonly clock: Clock
  readonly now: () => number
  readonly uuid: () => string
  readonly random: (bytes: number) => Buffer
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
  readonly stopped: AbortSignal
}

export type ServerPart = 'api' | 'worker' | undefined

const RUNS_PER_ORG = 1000
const DRAIN_SECONDS = 10
const RUN_DAYS = 90

interface Parts {
  readonly config: WorkflowConfig
  readonly given: ServerContext
  readonly store: Store
  readonly cells: Cells
  readonly identity: () => WorkflowIdentity
  readonly seal: Seal
  readonly temporal: TemporalOptions
  readonly evaluator: Evaluator
  readonly runs: Runs
  readonly grants: Grants
  readonly meter: WorkflowMeter
}

/** One workflow server: the API, a worker, or both. If it dies, another server continues its work. */
export async function serve(
  config: WorkflowConfig,
  given: ServerContext,
  only: ServerPart,
): Promise<void> {
  const { log, clock, random, stopped } = given
  await using opened = new AsyncDisposableStack()
  let api: OpenedApi | undefined
  const renewed = () => api?.renewed()
  const pause = (ms: number, signal: AbortSignal) => given.pause(ms, signal)
  const kept = await openIdentity({ config, clock, pause, log, renewed })
  const identity = () => kept.current()
  const logins = serverLogins(config, identity().sealKey)
  await untilPrepared(config.database, logins, { pause, log, stopped })
  const store = opened.use(openStore(logins, config.name))
  const cells = opened.use(new Cells(config.cells, () => identity().toCells))
  const key = Buffer.from(identity().sealKey, 'base64')
  const temporal: TemporalOptions = {
    address: config.temporal.address,
    namespace: config.temporal.namespace,
    tls: certificatesFor(config.temporal.tls, () => identity().toCells),
    dataConverter: sealedConverter({ keys: [{ id: '1', key }], random }),
  }
  const client = opened.use(connectTemporal(temporal))
  const seal = makeSeal(
    () => identity().sealKey,
    () => random(12),
  )
  const grants: Grants = {
    ask: (requested) => askGrant(cells, requested),
    end: (grant) => endGrant(cells, grant),
  }
  const meter = await openMeter(opened, only, { config, given, store, identity, client })
  const parts: Parts = {
    config,
    given,
    store,
    cells,
    identity,
    seal,
    temporal,
    grants,
    meter,
    evaluator: opened.use(startEvaluator()),
    runs: makeRuns(client),
  }
  if (only !== 'api') openWork(opened, parts)
  if (only !== 'worker') api = await openApi(opened, parts)
  const over = new AbortController()
  const tending = tendRuns({ db: store.db, runs: parts.runs, grants, log, pause }, over.signal)
  const { runDays: days = RUN_DAYS } = config
  const keeping = keepRuns({ db: store.db, days, pause, log }, over.signal)
  await kept.keep(stopped)
  log(`workflow server ${config.name} is stopping`)
  const drainMs = (config.drainSeconds ?? DRAIN_SECONDS) * 1000
  await Promise.all((api?.listeners ?? []).map((each) => drain(each, given, drainMs)))
  over.abort()
  await Promise.all([tending, keeping])
}

interface ServerParts extends Pick<Parts, 'config' | 'given' | 'store' | 'identity'> {
  readonly client: TemporalClient
}

/** Opens the health listener for the lifetime of the server. */
async function openMeter(
  opened: AsyncDisposableStack,
  only: ServerPart,
  { config, given: { clock, now, log }, store, identity, client }: ServerParts,
): Promise<WorkflowMeter> {
  const conditions = new Conditions(({ name, ok, message }) =>
    log(`${name} is ${ok ? 'ok again' : 'not ok'}: ${message}`),
  )
  const server = only === 'worker' ? 'worker' : 'workflow'
  const meter = new WorkflowMeter({
    server,
    conditions,
    clock,
    pools: store.pools,
    certificates: () => ({ workflow: identity().toCells.cert, server: identity().server.cert }),
    readRuns: () => readRunFigures(store.db),
    isTemporalReached: () => isReached(client),
  })
  const listen = server === 'worker' ? config.workerHealth : config.health
  opened.use(
    await openHealth({
      server,
      listen,
      conditions,
      metrics: meter.server,
      look: meter.look,
      now,
      log,
    }),
  )
  return meter
}

/** Runs workflow steps for the lifetime of the server. */
function openWork(opened: AsyncDisposableStack, parts: Parts): void {
  const { config, given, store, cells, seal, evaluator } = parts
  const context = makeWorkerContext({
    db: store.db,
    cells,
    seal,
    evaluator,
    now: given.now,
    pause: given.pause,
    egress: config.egress,
  })
  opened.use(
    startRunWorker({
      ...parts.temporal,
      context,
      identity: `workflow ${config.name}`,
      say: (what, cause) => given.log(what, cause),
    }),
  )
}

/** Routes whose responses stay open while the client reads. */
const STREAMS: ReadonlySet<string> = new Set(['followExecution'])

interface OpenedApi {
  /** The public listener, and that for cells if it is configured. */
  readonly listeners: readonly FastifyInstance[]
  /** Shows the current certificates to new connections. */
  renewed(): void
}

async function openApi(opened: AsyncDisposableStack, parts: Parts): Promise<OpenedApi> {
  const { config, given, store, cells, seal, runs, grants, identity, evaluator, meter } = parts
  const context: WorkflowRequestContext = {
    runs,
    grants,
    seal,
    clock: given.clock,
    uuid: given.uuid,
    as: (principal, work) => store.as(principal, work),
    base: new URL(config.url),
    functions: new Set(Object.keys(functions)),
    evaluate: (requested) => evaluator.evaluate(requested),
    findInvalid: (schema, value) => evaluator.findInvalid(schema, value),
    runsPerOrg: config.runsPerOrg ?? RUNS_PER_ORG,
    streams: new OpenStreams(given.now),
    isReady: async () => !given.stopped.aborted && (await store.isReady()),
  }
  const accounts = {
    check: meter.counted((credentials: Parameters<typeof checkCredentials>[1], address: string) =>
      checkCredentials(cells, credentials, address),
    ),
    stamp: () => readStamp(cells),
  }
  const authenticator = opened.use(
    new CachingAuthenticator(accounts, {
      key: given.random(32),
      now: given.now,
      ...(config.organisation !== undefined && { organisation: config.organisation }),
    }),
  )
  const { log, uuid: requestId } = given
  const measured = (server: FastifyInstance) => measureRequests(server, meter.server, STREAMS)
  const options = { requestId, log, measured }
  const { sharedAddresses } = config
  const tls = () => identity().server
  const api = buildServer(context, routes, byPassword(authenticator), {
    ...options,
    sharedAddresses,
    tls: tls(),
  })
  await listen(opened, api, parts, config.listen)
  const forCells = await openCellListener(opened, context, parts, options)
  return {
    listeners: forCells ? [api, forCells] : [api],
    renewed() {
      showCertificate(api, tls())
      if (forCells) showCertificate(forCells, machineTls(identity()))
    },
  }
}

/** Clients are machines with a certificate of the control issuer; which of them may send requests is checked at each request. */
const machineTls = ({ toCells: { key, cert, ca } }: WorkflowIdentity) => ({
  key,
  cert,
  clientIssuer: String(ca),
})

/** The same routes for cells, which pass on requests of the web UI with the session of their user. */
async function openCellListener(
  opened: AsyncDisposableStack,
  context: WorkflowRequestContext,
  parts: Parts,
  options: WorkflowServerOptions,
): Promise<FastifyInstance | undefined> {
  const { config, given, cells, identity } = parts
  if (!config.machines) return undefined
  const sessions = new PageSessions((token) => findSession(cells, token), given.now)
  const admit = admitPeers({ cloud: identity().cloud, epochs: epochsFrom(identity().toCells.cert) })
  const identify = bySession((token) => sessions.find(token), admit)
  const api = buildServer(context, routes, identify, { ...options, tls: machineTls(identity()) })
  await listen(opened, api, parts, config.machines)
  return api
}

/** Certificates that were revoked before ours was issued are rejected, and later ones once a newer certificate was seen. */
function epochsFrom(cert: string): Epochs {
  let { epoch: highest } = whoIsPeer(new X509Certificate(cert))
  return {
    get highest() {
      return highest
    },
    async raise(epoch) {
      highest = Math.max(highest, epoch)
    },
  }
}

async function listen(
  opened: AsyncDisposableStack,
  api: FastifyInstance,
  { config, given }: Parts,
  { address, port }: WorkflowConfig['listen'],
): Promise<void> {
  opened.defer(() => api.close())
  await api.listen({ host: address, port })
  given.log(`workflow server ${config.name} listens on https://${address}:${port}`)
}

/** Stops accepting requests, so that a load balancer sees the shutdown, and waits a limited time for those in progress. */
async function drain(api: FastifyInstance, { pause }: ServerContext, ms: number): Promise<void> {
  const over = new AbortController()
  const closing = api.close().finally(() => over.abort())
  await pause(ms, over.signal)
  api.server.closeAllConnections()
  await closing
}
