// A lab's cloud: its engines and cells in the network of the lab's switch, its hosts joined, two tenants in it.
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

import { administering, type Administer } from './administer.ts'
import { startBalancerProcess } from './balancer-process.ts'
import { labCell, type LabCell } from './cell.ts'
import { CONSOLE_ADDRESS, readPlan, settlePlan, type CloudPlan } from './cloud-plan.ts'
import { logOf, pageOf, startConsoles, type LabConsole } from './console.ts'
import { findEngines } from './daemon.ts'
import type { LabHost } from './host.ts'
import { joinHosts, untilOpen } from './join-hosts.ts'
import { startPostgres, type Postgres } from './postgres.ts'
import { startTemporal, type Temporal } from './temporal.ts'
import { findBeginning, makeTenant, newPassword, type Login, type Tenant } from './tenants.ts'
import { openWindow } from './window.ts'
import { logOf as logOfWorkflow, startWorkflows, type LabWorkflow } from './workflow.ts'

const DATABASE = 'cloud'
const NAMESPACE = 'skerry'

/** What is known of a cloud from the day it was made. */
interface Made {
  readonly ca: string
  readonly admin: Login
  readonly tenants: readonly Tenant[]
}

export interface LabCloud extends Made {
  /** The balancer's. */
  readonly url: string
  /** Where the same cloud speaks the original API, if it was asked for. */
  readonly original?: string
  readonly postgres: Postgres
  readonly temporal: Temporal
  readonly cells: readonly LabCell[]
  /** Where screens are shown, if it was asked for. */
  readonly console?: LabConsole
  /** Those that were asked for. */
  readonly workflows: readonly LabWorkflow[]
  /** An administrator's commands, on the first cell. */
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
  readonly temporal: { readonly address: string; readonly namespace: string; readonly pid?: number }
  readonly cloud: Made & {
    readonly url: string
    readonly original?: string
    readonly cells: readonly ServerReport[]
  }
  readonly console?: {
    readonly url: string
    readonly page: string
    readonly pids: readonly number[]
    readonly consoles: readonly ServerReport[]
  }
  readonly workflow?: {
    readonly url: string
    /** Of one of the cloud's tenants, as Basic credentials have it: user@organisation. */
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
  /** The network of the lab's switch. */
  readonly netns: string
  readonly outlives: boolean
}

/** Starts a cloud, or what is down of one, and answers when its hosts are open for placement. */
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
  const temporal = await startTemporal(join(lab, 'temporal'), postgres, {
    ...{ ...started, port: ports.temporal, namespace: NAMESPACE },
  })
  const administer = administering(netns, first.config)
  const init = await prepare(plan, postgres, temporal, administer)
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
  const shown = screens && (await startConsoles(lab, screens, administer, started))
  await joinHosts(administer, hosts, plan.cells)
  const made = init === undefined ? await readMade(plan) : await furnish(plan, administer, init)
  if (made === undefined) throw new Error('what was made of the cloud is gone')
  await untilOpen(
    administer,
    hosts.map(({ name }) => name),
  )
  const beside = { administer, postgres, cells: plan.cells }
  const workflows = await startWorkflows(plan.workflows, beside, started)
  const cloud = { ...made, url, postgres, temporal, cells, workflows, administer }
  return {
    ...cloud,
    ...(shown && { console: shown }),
    ...(original && { original: original.url }),
  }
}

/** Tables, issuers, configurations and the first administrator, whom only this knows; undefined where all of it was there. */
async function prepare(
  { cells, url, images, dir, console: screens, original }: CloudPlan,
  postgres: Postgres,
  temporal: Temporal,
  administer: Administer,
): Promise<Pick<Made, 'ca' | 'admin'> | undefined> {
  if (existsSync(join(dir, 'made.json'))) return undefined
  // Whoever broke off took the passwords with him.
  if (existsSync(join(dir, 'begun'))) {
    throw new Error(`the cloud of ${dirname(dir)} is half made: take the lab down and start again`)
  }
  await writeFile(join(dir, 'begun'), '')
  const [first, ...others] = cells
  if (first === undefined) throw new Error('a cloud needs a cell')
  const there = await postgres.psql(`select 1 from pg_database where datname = '${DATABASE}'`)
  if (there === '') await postgres.psql(`create database ${DATABASE}`)
  await mkdir(first.dir, { recursive: true })
  const password = newPassword()
  const at = ({ port, machines, original: second }: (typeof cells)[number]) => [
    ...['--listen', `127.0.0.1:${port}`, '--machines', `${machines.address}:${machines.port}`],
    ...(second === undefined ? [] : ['--original-listen', `127.0.0.1:${second}`]),
  ]
  const engines = ['--temporal', temporal.address, '--namespace', temporal.namespace]
  const kept = ['--database', postgres.urlOf(DATABASE), '--images', images, '--cell', first.name]
  const shown = [
    ...(screens ? ['--console', new URL(screens.url).host] : []),
    ...(original ? ['--original', original.url] : []),
  ]
  const said = await administer(
    ['init', '--base', url, ...at(first), ...engines, ...kept, ...shown, '--password-stdin'],
    password,
  )
  const { ca, org, user } = said as { ca: string; org: string; user: string }
  for (const cell of others) {
    await administer(['cell', '--name', cell.name, '--out', cell.dir, ...at(cell)])
  }
  return { ca, admin: { org, user, password } }
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
  // Written when all of it is there: half of it could not be continued.
  await writeFile(join(dir, 'made.json.new'), JSON.stringify(made, null, 2), { mode: 0o600 })
  await rename(join(dir, 'made.json.new'), join(dir, 'made.json'))
  return made
}

async function readMade({ dir }: CloudPlan): Promise<Made | undefined> {
  const file = join(dir, 'made.json')
  return existsSync(file) ? (JSON.parse(await readFile(file, 'utf8')) as Made) : undefined
}

/** What can be said of a lab's cloud by looking; undefined where there is none that is whole. */
export async function reportCloud(lab: string): Promise<CloudReport | undefined> {
  const plan = await readPlan(lab)
  const made = plan && (await readMade(plan))
  if (plan === undefined || made === undefined) return undefined
  const { ports, url, cells, console: screens, workflows, original } = plan
  const pidOf = (directory: string) => {
    const [pid] = findEngines((dir) => dir === directory)
    return pid === undefined ? {} : { pid }
  }
  return {
    postgres: {
      url: `postgres://postgres@127.0.0.1:${ports.postgres}/${DATABASE}`,
      ...pidOf(join(lab, 'postgres')),
    },
    temporal: {
      ...{ address: `127.0.0.1:${ports.temporal}`, namespace: NAMESPACE },
      ...pidOf(join(lab, 'temporal')),
    },
    cloud: {
      ...{ url, ...(original && { original: original.url }), ca: made.ca },
      cells: cells.map((cell) => ({
        ...{ url: cell.url, ...pidOf(cell.dir), log: join(cell.dir, 'cell.log') },
      })),
      ...{ admin: made.admin, tenants: made.tenants },
    },
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
      ...{ url: first.url, user: `${user}@${org}`, password },
      ...pidOf(first.dir),
      all,
    },
  }
}
