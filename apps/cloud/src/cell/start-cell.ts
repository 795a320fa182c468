import { inOrg } from '@skerry/postgres'
import { measureRequests, openHealth, showCertificate } from '@skerry/service'
import { isReached } from '@skerry/temporal'
import type { FastifyInstance } from 'fastify'

import { makeCheck, type CheckCredentials } from '../auth/credentials.ts'
import { hashPassword } from '../auth/password.ts'
import { makeSessions, type Sessions } from '../auth/sessions.ts'
import { retentionOf, type CloudConfig } from '../config.ts'
import type { RequestContext } from '../context.ts'
import { readFigures } from '../database/figures.ts'
import { original, ours } from '../dialect/dialect.ts'
import { Feeds } from '../feeds/feeds.ts'
import { byToken } from '../http/admission.ts'
import { buildServer } from '../http/server.ts'
import { openUploads } from '../images/uploads.ts'
import type { ForWorkflows } from '../machine-api/context.ts'
import { byGrant } from '../machine-api/runs.ts'
import { readUsageMeans } from '../metering/read-means.ts'
import { routes } from '../routes.ts'
import { passToWorkflows, WORKFLOW_STREAM } from '../web-ui/pass-to-workflows.ts'
import { readWebUi } from '../web-ui/read-web-ui.ts'
import { servePages } from '../web-ui/serve-pages.ts'
import { strictTransport } from '../web-ui/strict-transport.ts'
import { WorkflowServers } from '../web-ui/workflow-servers.ts'
import { openBackends, type Backends } from './backends.ts'
import type { CellContext } from './cell-context.ts'
import { CellMeter } from './meter.ts'
import { startWork } from './start-work.ts'

export interface Cell extends AsyncDisposable {
  /** Shows the current certificate to new clients; open connections continue. */
  renewed(): void
  /** For the machine API: the same password check, and the same routes. */
  readonly forWorkflows: ForWorkflows
}

/** Starts one cell: the tenant API, a worker, and a follower of its share of the hosts. If the cell dies, other cells take over. */
export async function startCell(config: CloudConfig, given: CellContext): Promise<Cell> {
  await using started = new AsyncDisposableStack()
  const backends = started.use(openBackends(config, given))
  const meter = openMeter(backends, given)
  const { log } = given
  const { conditions } = given.fitness
  const now = () => performance.now()
  // A host and this cell that reject each other are reported by metric and event: the cell can still work.
  const blocking = { failing: () => conditions.failing().filter(({ name }) => name !== 'trust') }
  started.use(
    await openHealth({
      server: 'cell',
      listen: config.health,
      conditions: blocking,
      metrics: meter.server,
      log,
      look: meter.look,
      now,
    }),
  )
  const webUi = await readWebUi()
  const report = () => ({ version: webUi.version, conditions: meter.report() })
  const { began, look } = meter
  started.use(startWork(config, backends, { ...given, began, look, report }))
  const feeds = started.use(new Feeds({ db: backends.db, now, log }))
  meter.countFeeds(() => feeds.count)
  const workflows =
    config.workflow && started.use(new WorkflowServers(config.workflow, given.toTemporal))
  const parts = { ...backends, feeds, workflows, webUi }
  const { apis, runs, check, sessions } = await buildListeners(config, parts, given, meter)
  for (const { api } of apis) started.defer(() => api.close())
  started.defer(() => runs.close())
  for (const { api, address, port } of apis) {
    await api.listen({ host: address, port })
    given.log(`cell ${config.cell} listens on https://${address}:${port}`)
  }
  const all = started.move()
  return {
    renewed: () => {
      for (const { api } of apis) showCertificate(api, given.tls())
    },
    forWorkflows: {
      check,
      sessions,
      api: (request, response) => runs.routing(request, response),
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  }
}

const openMeter = ({ db, pools, temporal }: Backends, given: CellContext): CellMeter => {
  const { fitness, clock, identity, tls } = given
  return new CellMeter({
    conditions: fitness.conditions,
    clock,
    pools,
    certificates: () => ({ cell: identity().cert, server: tls().cert }),
    readFigures: () => readFigures(db),
    readUsageMeans: () => readUsageMeans(db),
    isTemporalReached: () => isReached(temporal),
  })
}

/** Routes whose responses stay open while the client reads. */
const FEEDS: ReadonlySet<string> = new Set(['followEvents', WORKFLOW_STREAM])

interface CellListeners {
  readonly apis: readonly (CloudConfig['listen'] & { readonly api: FastifyInstance })[]
  /** The same routes, authenticated by the grants of workflow runs. */
  readonly runs: FastifyInstance
  readonly check: CheckCredentials
  readonly sessions: Sessions
}

interface ListenerParts extends Backends {
  readonly feeds: Feeds
  readonly workflows: WorkflowServers | undefined
  readonly webUi: Awaited<ReturnType<typeof readWebUi>>
}

async function buildListeners(
  config: CloudConfig,
  { db, tenants, reads, links, wake, feeds, workflows, webUi }: ListenerParts,
  { clock, ids, log, tls, site, seal, eventCursors }: CellContext,
  meter: CellMeter,
): Promise<CellListeners> {
  const { base, console: screens, images, sharedAddresses } = config
  const context: RequestContext = {
    as: (principal, work) =>
      principal.role === 'system administrator'
        ? db.transaction().execute(work)
        : inOrg(tenants, principal.org, work),
    reads: (reach) => reads.of(reach),
    screens: (host) => links.at(host),
    usage: (host) => links.at(host),
    wake,
    clock,
    seal,
    feeds,
    eventCursors,
    base: new URL(base),
    secret: () => ids.secret(),
    uploads: openUploads(db, images),
    taskDays: retentionOf(config).taskDays,
    console: screens ?? `console.${new URL(base).hostname}`,
  }
  const spare = await hashPassword(ids.secret(), ids.salt())
  const check = meter.counted(
    makeCheck(db, spare, {
      now: () => performance.now(),
      sharedAddresses,
      open: (sealed, about) => seal.open(sealed, about),
    }),
  )
  const sessions = makeSessions(db, () => ids.secret(), check)
  const options = { requestId: () => ids.uuid(), log }
  const measured = (server: FastifyInstance) => measureRequests(server, meter.server, FEEDS)
  const moreHeaders = () => strictTransport(tls().cert, site())
  const ui = { sessions, moreHeaders, ...webUi }
  const apis = listeners(config).map(({ dialect, at, listen }) => {
    const own = { ...context, base: new URL(at) }
    const api = buildServer(own, routes, byToken(sessions, dialect, own.base), {
      ...options,
      dialect,
      tls: tls(),
      sharedAddresses,
      measured,
      ...(dialect.pageCookie !== undefined && {
        pages: (server: FastifyInstance) => {
          const page = { ...ui, dialect, base: own.base, console: context.console }
          servePages({ ...page, hasWorkflows: workflows !== undefined })(server)
          if (workflows) passToWorkflows({ ...page, workflows })(server)
        },
      }),
    })
    return { ...listen, api }
  })
  const runs = buildServer(context, routes, byGrant(db), { ...options, dialect: ours, measured })
  await runs.ready()
  return { apis, runs, check, sessions }
}

/** One listener for each dialect; `at` is the base of the links in its documents. */
const listeners = ({ base, listen, original: second }: CloudConfig) => [
  { dialect: ours, at: base, listen },
  ...(second ? [{ dialect: original, at: second.base, listen: second.listen }] : []),
]
