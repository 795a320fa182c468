// A lab's cloud: its backends and cells in the network of the lab's switch, its joined hosts, and two tenants.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { writeDurably } from '@skerry/durable-file'

import type { LabHost } from '../host/host.ts'
import { startPostgres, type Postgres } from '../postgres/postgres.ts'
import { startBalancerProcess } from '../servers/balancer-process.ts'
import { findEngines } from '../servers/daemon.ts'
import type { LabServer } from '../servers/server-process.ts'
import { openWindow } from '../servers/window.ts'
import { startTemporal, type Temporal } from '../temporal/temporal.ts'
import { administering, type Administer } from './administer.ts'
import { labCell, type LabCell } from './cell.ts'
import {
  CLOUD_DATABASE,
  CONSOLE_ADDRESS,
  readPlan,
  settlePlan,
  type CloudPlan,
} from './cloud-plan.ts'
import { logOf, pageOf, startConsoles, type LabConsole } from './console.ts'
import { joinHosts, untilOpen } from './join-hosts.ts'
import { logOf as logOfNetwork, startNetworkServer, untilCarrying } from './network-server.ts'
import { findBeginning, makeTenant, newPassword, type Login, type Tenant } from './tenants.ts'
import { logOf as logOfWorkflow, startWorkflows, type LabWorkflow } from './workflow.ts'

const NAMESPACE = 'skerry'
const certificatesOf = (lab: string): string => join(lab, 'temporal', 'certificates')

/** What is known of a cloud since its creation. */
interface Made {
  readonly ca: string
  readonly admin: Login
  readonly tenants: readonly Tenant[]
}

export interface LabCloud extends Made {
  /** The balancer's URL. */
  readonly url: string
  /** The URL of the original API, if requested. */
  readonly original?: string
  readonly postgres: Postgres
  readonly temporal: Temporal
  readonly cells: readonly LabCell[]
  /** The URL of the consoles, if requested. */
  readonly console?: LabConsole
  /** The requested workflow servers. */
  readonly workflows: readonly LabWorkflow[]
  /** The network server, if requested. */
  readonly network?: LabServer
  /** Administrator commands on the first cell. */
  readonly administer: Administer
}

interface ServerReport {
  readonly url: string
  readonly pid?: number
  readonly log: string
}

/** The cloud's part of the object that `npm run lab` prints. A pid is absent while its server is down. */
export interface CloudReport {
  readonly postgres: { readonly url: string; readonly pid?: number }
  readonly temporal: {
    readonly address: string
    readonly namespace: string
    /** The directory of client credentials: temporal.pem, temporal.key and, for the server itself, clients.pem. */
    readonly certificates: string
    readonly pid?: number
  }
  readonly cloud: Made & {
    readonly url: string
    readonly original?: string
    readonly cells: readonly ServerReport[]
  }
  readonly network?: { readonly remote: string; readonly pid?: number; readonly log: string }
  readonly console?: {
    readonly url: string
    readonly page: string
    readonly pids: readonly number[]
    readonly consoles: readonly ServerReport[]
  }
  readonly workflow?: {
    readonly url: string
    /** A user of one of the cloud's tenants, as in Basic credentials: user@organisation. */
    readonly user: string
    readonly password: string
    readonly pid?: number
    readonly all: readonly ServerReport[]
  }
}

export interface CloudOptions {
  readonly cells: number
  readonly consoles: number
  readonly workflows: number
  readonly original: boolean
  readonly network: boolean
  /** The network of the lab's switch. */
  readonly netns: string
  readonly outlives: boolean
}

/** Starts a cloud, or the parts of it that are down, and returns when its hosts are open for placement. */
export async function startCloud(
  lab: string,
  hosts: readonly LabHost[],
  { netns, outlives, ...size }: CloudOptions,
): Promise<LabCloud> {
  const plan = await settlePlan(lab, size)
  const [first] = plan.cells
  if (first === undefined) throw new Error('a cloud needs a cell')
  const started = { netns, outlives }
  const { ports, url } = plan
  const seen = [
    ports.postgres,
    ports.temporal,
    ports.balancer,
    ...plan.cells.map(({ port }) => port),
    ...(plan.original ? [plan.original.port] : []),
  ]
  const { console: screens } = plan
  const elsewhere = [screens, ...(screens?.all ?? [])].flatMap((each) =>
    each ? [{ address: CONSOLE_ADDRESS, port: each.port }] : [],
  )
  for (const { address, port } of plan.workflows) elsewhere.push({ address, port })
  await openWindow(join(lab, 'window'), { ...started, ports: seen, elsewhere })
  const postgres = await startPostgres(join(lab, 'postgres'), { ...started, port: ports.postgres })
  const administer = administering(netns, first.config)
  const init = await prepare(plan, postgres, administer)
  // Its certificates come from the cloud's issuer, which exists by now.
  const certificates = certificatesOf(lab)
  if (!existsSync(certificates))
    await administer(['temporal-server', 'create', '--out', certificates])
  const temporal = await startTemporal(join(lab, 'temporal'), postgres, {
    ...started,
    port: ports.temporal,
    namespace: NAMESPACE,
    certificates,
  })
  const cells = plan.cells.map((cell) => labCell(cell, started))
  for (const cell of cells) await cell.start()
  const behind = plan.cells.map(({ port }) => ({ host: '127.0.0.1', port }))
  await startBalancerProcess(join(lab, 'balancer'), behind, { ...started, port: ports.balancer })
  const { original } = plan
  if (original) {
    const second = plan.cells.flatMap(({ original: port }) =>
      port ? [{ host: '127.0.0.1', port }] : [],
    )
    const at = { ...started, port: original.port }
    await startBalancerProcess(join(lab, 'original-balancer'), second, at)
  }
  // Before hosts join, so that they get their certificates for it at once.
  const network =
    plan.network && (await startNetworkServer(plan.network, { administer, postgres }, started))
  const shown = screens && (await startConsoles(lab, screens, administer, started))
  await joinHosts(administer, hosts, plan.cells)
  const made = init === undefined ? await readMade(plan) : await furnish(plan, administer, init)
  if (made === undefined) throw new Error('the record of the created cloud is missing')
  const names = hosts.map(({ name }) => name)
  await untilOpen(postgres, names)
  if (network) await untilCarrying(postgres, names)
  const beside = { administer, postgres, cells: plan.cells }
  const workflows = await startWorkflows(plan.workflows, beside, started)
  const cloud = { ...made, url, postgres, temporal, cells, workflows, administer }
  return {
    ...cloud,
    ...(shown && { console: shown }),
    ...(original && { original: original.url }),
    ...(network && { network }),
  }
}

/** Creates tables, issuers, configurations and the first administrator, whose password is only here; undefined if all of it existed. */
async function prepare(
  { cells, url, images, dir, ports, console: screens, original, workflows }: CloudPlan,
  postgres: Postgres,
  administer: Administer,
): Promise<Pick<Made, 'ca' | 'admin'> | undefined> {
  if (existsSync(join(dir, 'made.json'))) return undefined
  // The interrupted program took the passwords with it.
  if (existsSync(join(dir, 'begun'))) {
    throw new Error(`the cloud of ${dirname(dir)} is incomplete: take the lab down and start again`)
  }
  await writeFile(join(dir, 'begun'), '', { mode: 0o600 })
  const [first, ...others] = cells
  if (first === undefined) throw new Error('a cloud needs a cell')
  const there = await postgres.psql(`select 1 from pg_database where datname = '${CLOUD_DATABASE}'`)
  if (there === '') await postgres.psql(`create database ${CLOUD_DATABASE}`)
  await mkdir(first.dir, { recursive: true })
  const password = newPassword()
  const at = ({ port, machines, original: second }: (typeof cells)[number]) => [
    '--listen',
    `127.0.0.1:${port}`,
    '--machines',
    `${machines.address}:${machines.port}`,
    ...(second === undefined ? [] : ['--original-listen', `127.0.0.1:${second}`]),
  ]
  const engines = ['--temporal', `127.0.0.1:${ports.temporal}`, '--namespace', NAMESPACE]
  const kept = [
    '--database',
    postgres.urlOf(CLOUD_DATABASE),
    '--images',
    images,
    '--cell',
    first.name,
  ]
  const shown = [
    ...(screens ? ['--console', new URL(screens.url).host] : []),
    ...(original ? ['--original', original.url] : []),
    // The web UI shows the workflows of one server: two in a lab share no workflows.
    ...(workflows[0] ? ['--workflow', workflows[0].machines] : []),
    // Without a workflow server nothing listens there, and webhooks wait.
    '--egress',
    join(workflows[0]?.dir ?? first.dir, 'egress', 'egress.sock'),
  ]
  const said = await administer(
    ['init', '--base', url, ...at(first), ...engines, ...kept, ...shown, '--password-stdin'],
    password,
  )
  const { ca, org, user } = said as { ca: string; org: string; user: string }
  for (const cell of others) {
    await administer(['cell', 'create', cell.name, '--out', cell.dir, ...at(cell)])
  }
  for (const { config } of cells) await shareAddress(config)
  return { ca, admin: { org, user, password } }
}

/** The balancer hides client addresses: configure the cell to treat its address as shared. */
async function shareAddress(config: string): Promise<void> {
  const written = JSON.parse(await readFile(config, 'utf8')) as object
  const shared = { ...written, sharedAddresses: ['127.0.0.1'] }
  await writeFile(config, `${JSON.stringify(shared, null, 2)}\n`)
}

/** Two organisations that must never see each other. */
async function furnish(
  { dir, url }: CloudPlan,
  administer: Administer,
  init: Pick<Made, 'ca' | 'admin'>,
): Promise<Made> {
  const cloud = { url, ca: await readFile(init.ca, 'utf8') }
  const tenants: Tenant[] = []
  for (const [org, user] of [
    ['blue', 'bob'],
    ['green', 'gwen'],
  ] as const) {
    tenants.push(await findBeginning(cloud, await makeTenant(administer, org, user)))
  }
  const made: Made = { ...init, tenants }
  // Written when all of it exists: an incomplete cloud cannot be continued.
  await writeDurably(join(dir, 'made.json'), JSON.stringify(made, null, 2))
  return made
}

async function readMade({ dir }: CloudPlan): Promise<Made | undefined> {
  const file = join(dir, 'made.json')
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Made) : undefined
}

/** The current state of a lab's cloud; undefined if there is no complete one. */
export async function reportCloud(lab: string): Promise<CloudReport | undefined> {
  const plan = await readPlan(lab)
  const made = plan && (await readMade(plan))
  if (plan === undefined || made === undefined) return undefined
  const { ports, url, cells, console: screens, workflows, original, network } = plan
  const pidOf = (directory: string) => {
    const [pid] = findEngines((dir) => dir === directory)
    return pid === undefined ? {} : { pid }
  }
  return {
    postgres: {
      url: `postgres://postgres@127.0.0.1:${ports.postgres}/${CLOUD_DATABASE}`,
      ...pidOf(join(lab, 'postgres')),
    },
    temporal: {
      address: `127.0.0.1:${ports.temporal}`,
      namespace: NAMESPACE,
      certificates: certificatesOf(lab),
      ...pidOf(join(lab, 'temporal')),
    },
    cloud: {
      url,
      ...(original && { original: original.url }),
      ca: made.ca,
      cells: cells.map((cell) => ({
        url: cell.url,
        ...pidOf(cell.dir),
        log: join(cell.dir, 'cell.log'),
      })),
      admin: made.admin,
      tenants: made.tenants,
    },
    ...(network && {
      network: {
        remote: network.remote,
        ...pidOf(network.dir),
        log: logOfNetwork(network.dir),
      },
    }),
    ...(screens && { console: reportConsoles(screens, pidOf) }),
    ...reportWorkflows(workflows, made, pidOf),
  }
}

function reportConsoles(
  { url, all }: NonNullable<CloudPlan['console']>,
  pidOf: (directory: string) => { readonly pid?: number },
): NonNullable<CloudReport['console']> {
  const consoles = all.map((each) => ({ url: each.url, ...pidOf(each.dir), log: logOf(each.dir) }))
  const pids = consoles.flatMap(({ pid }) => (pid === undefined ? [] : [pid]))
  return { url, page: pageOf(url), pids, consoles }
}

function reportWorkflows(
  plans: CloudPlan['workflows'],
  { tenants }: Made,
  pidOf: (directory: string) => { readonly pid?: number },
): Pick<CloudReport, 'workflow'> {
  const [first, [tenant]] = [plans[0], tenants]
  if (!first || !tenant) return {}
  const all = plans.map(({ url, dir }) => ({ url, ...pidOf(dir), log: logOfWorkflow(dir) }))
  const { user, org, password } = tenant
  return {
    workflow: {
      url: first.url,
      user: `${user}@${org}`,
      password,
      ...pidOf(first.dir),
      all,
    },
  }
}
