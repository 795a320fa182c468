import { type Clock, makeSeal, type Seal } from '@skerry/service'
import { connectTemporal, type TemporalOptions } from '@skerry/temporal'
import type { FastifyInstance } from 'fastify'

import { checkCredentials, readStamp } from './cloud/accounts.ts'
import { Cells } from './cloud/cells.ts'
import { askGrant, endGrant } from './cloud/grants.ts'
import { openIdentity, type WorkflowIdentity } from './cloud/identity.ts'
import type { Config } from './config.ts'
import { openStore, untilPrepared, type Store } from './engines.ts'
import { buildServer, showCertificate } from './http/server.ts'
import { RememberedWho } from './http/who.ts'
import { routes } from './routes.ts'
import { tendRuns } from './tend-runs.ts'
import { sealedConverter } from './worker/codec.ts'
import { startEvaluator, type Evaluator } from './worker/evaluate.ts'
import { functions } from './worker/functions.ts'
import { makeWorkerWorld } from './worker/make-world.ts'
import { makeRuns } from './worker/runs.ts'
import { startRunWorker } from './worker/start-worker.ts'
import type { Grants, RequestWorld, Runs } from './world.ts'

export interface Given {
  readonly clock: Clock
  readonly now: () => number
  readonly uuid: () => string
  readonly random: (bytes: number) => Buffer
  readonly pause: (ms: number, signal?: AbortSignal) => Promise<void>
  readonly log: (message: string, cause?: unknown) => void
  readonly stopped: AbortSignal
}

export type Only = 'api' | 'worker' | undefined

const RUNS_PER_ORG = 1000
const DRAIN_SECONDS = 10

interface Parts {
  readonly config: Config
  readonly given: Given
  readonly store: Store
  readonly cells: Cells
  readonly identity: () => WorkflowIdentity
  readonly seal: Seal
  readonly temporal: TemporalOptions
  readonly evaluator: Evaluator
  readonly runs: Runs
  readonly grants: Grants
}

/** One workflow server: the API, a worker, or both. Whatever it does another one goes on with, should it die. */
export async function serve(config: Config, given: Given, only: Only): Promise<void> {
  const { log, clock, random, stopped } = given
  await using opened = new AsyncDisposableStack()
  let door: FastifyInstance | undefined
  const renewed = () => {
    if (door) showCertificate(door, kept.current().server)
  }
  const pause = (ms: number, signal: AbortSignal) => given.pause(ms, signal)
  await untilPrepared(config.database, { pause, log, stopped })
  const kept = await openIdentity({ config, clock, pause, log, renewed })
  const identity = () => kept.current()
  const store = opened.use(openStore(config.database, config.name))
  const cells = opened.use(new Cells(config.cells, () => identity().toCells))
  const key = Buffer.from(identity().sealKey, 'base64')
  const temporal: TemporalOptions = {
    ...config.temporal,
    dataConverter: sealedConverter({ keys: [{ id: '1', key }], random }),
  }
  const client = opened.use(connectTemporal(temporal))
  const seal = makeSeal(
    () => identity().sealKey,
    () => random(12),
  )
  const grants: Grants = {
    ask: (asked) => askGrant(cells, asked),
    end: (grant) => endGrant(cells, grant),
  }
  const parts: Parts = {
    ...{ config, given, store, cells, identity, seal, temporal, grants },
    evaluator: opened.use(startEvaluator()),
    runs: makeRuns(client),
  }
  if (only !== 'api') openWork(opened, parts)
  if (only !== 'worker') door = await openApi(opened, parts)
  const over = new AbortController()
  const tending = tendRuns(
    { ...{ db: store.db, runs: parts.runs, grants, log }, pause: (ms) => pause(ms, over.signal) },
    over.signal,
  )
  await kept.keep(stopped)
  log(`workflow server ${config.name} stops`)
  if (door) await drain(door, given, (config.drainSeconds ?? DRAIN_SECONDS) * 1000)
  over.abort()
  await tending
}

/** It takes steps of runs for as long as it is open. */
function openWork(opened: AsyncDisposableStack, parts: Parts): void {
  const { config, given, store, cells, seal, evaluator } = parts
  const world = makeWorkerWorld({
    ...{ db: store.db, cells, seal, evaluator, now: given.now, pause: given.pause },
    egress: config.egress,
  })
  opened.use(
    startRunWorker({
      ...{ ...parts.temporal, world, identity: `workflow ${config.name}` },
      say: (what, cause) => given.log(what, cause),
    }),
  )
}

async function openApi(opened: AsyncDisposableStack, parts: Parts): Promise<FastifyInstance> {
  const { config, given, store, cells, seal, runs, grants, identity, evaluator } = parts
  const world: RequestWorld = {
    ...{ runs, grants, seal, clock: given.clock, uuid: given.uuid },
    as: (who, work) => store.as(who, work),
    base: new URL(config.url),
    functions: new Set(Object.keys(functions)),
    evaluate: (asked) => evaluator.evaluate(asked),
    runsPerOrg: config.runsPerOrg ?? RUNS_PER_ORG,
    isReady: async () => !given.stopped.aborted && (await store.isReady()),
  }
  const accounts = {
    check: (credentials: Parameters<typeof checkCredentials>[1], address: string) =>
      checkCredentials(cells, credentials, address),
    stamp: () => readStamp(cells),
  }
  const whoIs = opened.use(new RememberedWho(accounts, { key: given.random(32), now: given.now }))
  const { log, uuid: requestId } = given
  const door = buildServer(world, routes, whoIs, { tls: identity().server, requestId, log })
  const { address, port } = config.listen
  opened.defer(() => door.close())
  await door.listen({ host: address, port })
  log(`workflow server ${config.name} answers at https://${address}:${port}`)
  return door
}

/** Whoever stands before us hears that we stop; what is under way is answered, up to a point. */
async function drain(door: FastifyInstance, { pause }: Given, ms: number): Promise<void> {
  const over = new AbortController()
  const closing = door.close().finally(() => over.abort())
  await pause(ms, over.signal)
  door.server.closeAllConnections()
  await closing
}
