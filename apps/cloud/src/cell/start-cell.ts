import { inOrg } from '@skerry/postgres'
import { measureRequests, networkOf, openHealth, showCertificate } from '@skerry/service'
import { isReached } from '@skerry/temporal'
import type { FastifyInstance } from 'fastify'

import { makeCheck, type CheckCredentials } from '../auth/credentials.ts'
import { DeviceLogins } from '../auth/device-logins.ts'
import { OpenIdLogins } from '../auth/openid-logins.ts'
import { Passkeys, type PasskeyContext } from '../auth/passkeys.ts'
import { spareHash } from '../auth/password.ts'
import { makeSessions, type Sessions } from '../auth/sessions.ts'
import { retentionOf, type CloudConfig } from '../config.ts'
import type { RequestContext } from '../context.ts'
import { readFigures } from '../database/figures.ts'
import { original, ours } from '../dialect/dialect.ts'
import { OpenIdServers } from '../directories/ask-openid.ts'
import { Feeds } from '../feeds/feeds.ts'
import { byToken } from '../http/admission.ts'
import { buildServer } from '../http/server.ts'
import { openUploads } from '../images/uploads.ts'
import type { ForWorkflows } from '../machine-api/context.ts'
import { byGrant } from '../machine-api/runs.ts'
import { readUsageMeans } from '../metering/read-means.ts'
import { routes } from '../routes.ts'
import { requireProof } from '../second-factors/prove.ts'
import { serveDevices, type DevicePages } from '../web-ui/device-pages.ts'
import { serveLogins, type LoginPages } from '../web-ui/login-pages.ts'
import { passToWorkflows, WORKFLOW_STREAM } from '../web-ui/pass-to-workflows.ts'
import { servePasskeys, type PasskeyPages } from '../web-ui/passkey-pages.ts'
import { readWebUi } from '../web-ui/read-web-ui.ts'
import { servePages, type WebUi } from '../web-ui/serve-pages.ts'
import { strictTransport } from '../web-ui/strict-transport.ts'
import { WorkflowServers } from '../web-ui/workflow-servers.ts'
import { postThrough } from '../webhooks/egress.ts'
import { readWebhookStates } from '../webhooks/read-states.ts'
import { WebhookSender } from '../webhooks/send-webhooks.ts'
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
  startWebhooks(config, backends, given, meter, started)
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

/** A cell without an egress leaves webhooks to the others. */
function startWebhooks(
  { egress, base }: CloudConfig,
  { db }: Backends,
  { seal, eventCursors, log, ids }: CellContext,
  { sentWebhook: sent }: CellMeter,
  started: AsyncDisposableStack,
): void {
  if (egress === undefined) return
  const post = postThrough(egress)
  const random = () => ids.salt().readUInt32BE() / 2 ** 32
  const own = { now: () => performance.now(), random }
  const sender = { db, post, seal, cursors: eventCursors, base: new URL(base), log, sent }
  started.use(new WebhookSender({ ...sender, ...own }))
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
    readWebhookStates: () => readWebhookStates(db),
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
  const { base, console: screens, images, sharedAddresses, egress } = config
  const openIdServers = new OpenIdServers({ now: () => performance.now() })
  const open = (sealed: Buffer, about: string): string => seal.open(sealed, about)
  const prove: PasskeyContext['requireProof'] = (principal, code) =>
    requireProof({ db, open, clock }, principal, code)
  const context: RequestContext = {
    openIdServers,
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
    requireProof: prove,
    feeds,
    eventCursors,
    base: new URL(base),
    secret: () => ids.secret(),
    uploads: openUploads(db, images),
    ...(egress !== undefined && { postMessage: postThrough(egress) }),
    taskDays: retentionOf(config).taskDays,
    console: screens ?? `console.${new URL(base).hostname}`,
  }
  const spare = spareHash(() => ids.salt())
  const now = (): number => performance.now()
  const check = meter.counted(makeCheck(db, spare, { now, sharedAddresses, open, clock }))
  const sessions = makeSessions(db, () => ids.secret(), check)
  const options = { requestId: () => ids.uuid(), log }
  const measured = (server: FastifyInstance) => measureRequests(server, meter.server, FEEDS)
  const moreHeaders = () => strictTransport(tls().cert, site())
  const ui = { sessions, moreHeaders, workflows, now, requireProof: prove, ...webUi }
  const login = loginsIn({ db, servers: openIdServers, seal, ids, sharedAddresses })
  const apis = listeners(config).map(({ dialect, at, listen }) => {
    const own = { ...context, base: new URL(at) }
    const api = buildServer(own, routes, byToken(sessions, dialect, own.base), {
      ...options,
      dialect,
      tls: tls(),
      sharedAddresses,
      measured,
      ...(dialect.pageCookie !== undefined && {
        pages: besideApi({ ...ui, ...login, dialect, base: own.base, console: context.console }),
      }),
    })
    return { ...listen, api }
  })
  const runs = buildServer(context, routes, byGrant(db), { ...options, dialect: ours, measured })
  await runs.ready()
  return { apis, runs, check, sessions }
}

type BesideApi = WebUi &
  Omit<PasskeyContext & PasskeyPages & DevicePages & LoginPages, 'logins' | 'passkeys'> &
  Pick<LoginParts, 'servers' | 'seal'> & { readonly workflows: WorkflowServers | undefined }

/** Adds the web UI to a listener, logins in the browser, and the workflow servers for the UI. */
const besideApi =
  ({ workflows, ...given }: BesideApi) =>
  (server: FastifyInstance): void => {
    servePages({ ...given, hasWorkflows: workflows !== undefined })(server)
    if (workflows) passToWorkflows({ ...given, workflows })(server)
    serveLogins({ ...given, logins: new OpenIdLogins(given) })(server)
    serveDevices(given)(server)
    servePasskeys({ ...given, passkeys: new Passkeys(given) })(server)
  }

interface LoginParts {
  readonly db: Backends['db']
  readonly servers: OpenIdServers
  readonly seal: CellContext['seal']
  readonly ids: CellContext['ids']
  readonly sharedAddresses: CloudConfig['sharedAddresses']
}

/** For logins in the browser, and of programs that a browser lets in. */
function loginsIn({ db, servers, seal, ids, sharedAddresses }: LoginParts) {
  const secret = (): string => ids.secret()
  const devices = new DeviceLogins(db, secret, () => performance.now())
  const isShared = sharedIn(sharedAddresses)
  return { db, servers, seal, secret, devices, sharedAddresses, isShared }
}

/** Whether many clients have an address. */
function sharedIn(addresses: CloudConfig['sharedAddresses'] = []): (address: string) => boolean {
  const shared = new Set(addresses.map(networkOf))
  return (address) => shared.has(networkOf(address))
}

/** One listener for each dialect; `at` is the base of the links in its documents. */
const listeners = ({ base, listen, original: second }: CloudConfig) => [
  { dialect: ours, at: base, listen },
  ...(second ? [{ dialect: original, at: second.base, listen: second.listen }] : []),
]
