// The layout of a lab's cloud: its directories and ports. Decided once, before anything is started.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { temporalPorts } from '@skerry/site'

import { SWITCH_ADDRESS } from '../network/netns.ts'
import { freePorts } from '../network/ports.ts'

/** The address at which hosts reach the cells. */
const MACHINES = SWITCH_ADDRESS.replace(/\/.*/, '')

export interface CellPlan {
  readonly name: string
  /** Its configuration, certificates and log. */
  readonly dir: string
  readonly config: string
  /** Its own port, besides the balancer's. */
  readonly url: string
  readonly port: number
  /** The listener for hosts. */
  readonly machines: { readonly address: string; readonly port: number }
  /** The listener for clients of the original API, if requested. */
  readonly original?: number
}

export interface ConsolePlan {
  readonly name: string
  /** Its configuration, certificates and log. */
  readonly dir: string
  readonly config: string
  /** Its own port, besides the balancer's. */
  readonly url: string
  readonly port: number
}

/** Consoles have another address than the cloud: the address in a ticket must not lead to the cloud. */
export const CONSOLE_ADDRESS = '127.0.0.2'

export interface CloudPlan {
  readonly dir: string
  readonly ports: {
    readonly postgres: number
    /** The first of a range. */
    readonly temporal: number
    readonly balancer: number
  }
  readonly url: string
  readonly cells: readonly CellPlan[]
  readonly images: string
  /** The address of the consoles, behind their own balancer; absent if not requested. */
  readonly console?: {
    readonly url: string
    readonly port: number
    readonly all: readonly ConsolePlan[]
  }
  readonly workflows: readonly WorkflowPlan[]
  /** The address of the original API, behind its own balancer; absent if not requested. */
  readonly original?: { readonly url: string; readonly port: number }
  /** Absent if not requested. */
  readonly network?: NetworkServerPlan
}

export interface NetworkServerPlan {
  readonly name: string
  /** Its configuration, certificates and log. */
  readonly dir: string
  readonly config: string
  /** The directory of OVN's databases. */
  readonly data: string
  readonly address: string
  /** Where hosts find it. */
  readonly remote: string
}

export interface WorkflowPlan {
  readonly name: string
  /** Its configuration, certificates and log. */
  readonly dir: string
  readonly config: string
  readonly url: string
  readonly address: string
  readonly port: number
  /** Its listener for cells. */
  readonly machines: string
  /** Its own database, in the lab's PostgreSQL. */
  readonly database: string
  /** The health port of the process that runs its workflows. */
  readonly worker: string
  /** The health port of its egress, through which its workflows call external servers. */
  readonly egress: string
}

/** The requested parts of a cloud. */
export interface CloudSize {
  readonly cells: number
  readonly consoles: number
  /** Workflow servers, each at its own address; the first at 127.0.0.1. */
  readonly workflows?: number
  /** Whether its cells also serve the original API. */
  readonly original?: boolean
  /** Whether it has a network server. */
  readonly network?: boolean
}

/** The port of a network server: each lab has a network of its own. */
const NETWORK_PORT = 6642

/** The public port of workflow servers. */
const WORKFLOW_PORT = 8281
/** The port of workflow servers for cells. */
const WORKFLOW_MACHINES_PORT = 8282
const WORKFLOW_ADDRESSES = ['127.0.0.1', '127.0.0.3'] as const

/** The cloud's database, in the lab's PostgreSQL. */
export const CLOUD_DATABASE = 'cloud'

/** Directories of a lab that belong to its cloud. */
export const CLOUD_DIRECTORIES =
  /^(cloud|images|postgres|temporal|balancer|original-balancer|window|cell-\d+|console-\d+|console-balancer|(network|workflow|worker|egress)-\d+)$/

/** The stored plan of a lab's cloud, or undefined if there is none. */
export async function readPlan(lab: string): Promise<CloudPlan | undefined> {
  const file = planFile(lab)
  if (!existsSync(file)) return undefined
  const kept = JSON.parse(await readFile(file, 'utf8')) as CloudSize & { readonly first: number }
  return planOf(lab, kept.first, kept)
}

/** Plans a cloud of this size; an existing plan is kept. */
export async function settlePlan(lab: string, size: CloudSize): Promise<CloudPlan> {
  const { cells, consoles, workflows = 0, original = false, network = false } = size
  const settled = await readPlan(lab)
  if (settled !== undefined && workflows > settled.workflows.length) {
    throw new Error(`the lab in ${lab} has no workflow server: take it down and start again`)
  }
  if (settled !== undefined && consoles > (settled.console?.all.length ?? 0)) {
    throw new Error(`the lab in ${lab} has no console: take it down and start again`)
  }
  if (settled !== undefined && original && !settled.original) {
    throw new Error(`the lab in ${lab} has no original address: take it down and start again`)
  }
  if (settled !== undefined && network && !settled.network) {
    throw new Error(`the lab in ${lab} has no network server: take it down and start again`)
  }
  if (settled !== undefined && settled.cells.length >= cells) return settled
  if (settled !== undefined) {
    throw new Error(
      `the lab in ${lab} has ${settled.cells.length} cells, not ${cells}: take it down and start again`,
    )
  }
  await mkdir(join(lab, 'cloud'), { recursive: true })
  const first = await freePorts(
    temporalPorts + 3 + 2 * cells + consoles + (original ? 1 + cells : 0),
  )
  const plan = JSON.stringify({ first, cells, consoles, workflows, original, network })
  await writeFile(planFile(lab), plan, { mode: 0o600 })
  return planOf(lab, first, size)
}

/** One range of ports, so that no two servers get the same. */
function planOf(
  lab: string,
  first: number,
  { cells: count, consoles, workflows = 0, original = false, network = false }: CloudSize,
): CloudPlan {
  const ports = {
    temporal: first,
    postgres: first + temporalPorts,
    balancer: first + temporalPorts + 1,
  }
  // After those of the cells and of the consoles.
  const second = ports.balancer + 2 + 2 * count + consoles
  const cells = Array.from({ length: count }, (_, at): CellPlan => {
    const name = `cell-${at + 1}`
    const dir = join(lab, name)
    const port = ports.balancer + 1 + at
    return {
      name,
      dir,
      config: join(dir, 'cloud.json'),
      url: `https://127.0.0.1:${port}`,
      port,
      machines: { address: MACHINES, port: port + count },
      ...(original && { original: second + 1 + at }),
    }
  })
  const url = `https://127.0.0.1:${ports.balancer}`
  const plan = {
    dir: join(lab, 'cloud'),
    ports,
    url,
    cells,
    images: join(lab, 'images'),
    workflows: workflowsOf(lab, workflows),
    ...(original && { original: { url: `https://127.0.0.1:${second}`, port: second } }),
    ...(network && { network: networkServerOf(lab) }),
  }
  if (!consoles) return plan
  const port = ports.balancer + 1 + 2 * count
  const all = Array.from({ length: consoles }, (_, at): ConsolePlan => {
    const name = `console-${at + 1}`
    const dir = join(lab, name)
    const own = port + 1 + at
    const where = `https://${CONSOLE_ADDRESS}:${own}`
    return { name, dir, config: join(dir, 'console.json'), url: where, port: own }
  })
  return { ...plan, console: { url: `https://${CONSOLE_ADDRESS}:${port}`, port, all } }
}

function networkServerOf(lab: string): NetworkServerPlan {
  const name = 'network-1'
  const dir = join(lab, name)
  return {
    name,
    dir,
    config: join(dir, 'network.json'),
    data: join(dir, 'data'),
    address: MACHINES,
    remote: `ssl:${MACHINES}:${NETWORK_PORT}`,
  }
}

const workflowsOf = (lab: string, count: number): WorkflowPlan[] =>
  WORKFLOW_ADDRESSES.slice(0, count).map((address, at) => {
    const name = `workflow-${at + 1}`
    const dir = join(lab, name)
    return {
      name,
      dir,
      config: join(dir, 'workflow.json'),
      address,
      port: WORKFLOW_PORT,
      machines: `${address}:${WORKFLOW_MACHINES_PORT}`,
      url: `https://${address}:${WORKFLOW_PORT}`,
      database: `workflow_${at + 1}`,
      worker: join(lab, `worker-${at + 1}`),
      egress: join(lab, `egress-${at + 1}`),
    }
  })

const planFile = (lab: string): string => join(lab, 'cloud', 'plan.json')
