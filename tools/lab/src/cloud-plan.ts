// Where everything of a lab's cloud is: its directories and its ports. Settled once, before anything is started.
import { existsSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { temporalPorts } from '@skerry/site'

import { SWITCH_ADDRESS } from './netns.ts'
import { freePorts } from './ports.ts'

/** The address at which hosts reach the cells. */
const MACHINES = SWITCH_ADDRESS.replace(/\/.*/, '')

export interface CellPlan {
  readonly name: string
  /** Its configuration, its certificates and its log. */
  readonly dir: string
  readonly config: string
  /** Its own, beside the balancer's. */
  readonly url: string
  readonly port: number
  /** Where hosts come in. */
  readonly machines: { readonly address: string; readonly port: number }
  /** Where clients of the original API come in, if it was asked for. */
  readonly original?: number
}

export interface ConsolePlan {
  readonly name: string
  /** Its configuration, its certificates and its log. */
  readonly dir: string
  readonly config: string
  /** Its own, beside the balancer's. */
  readonly url: string
  readonly port: number
}

/** Consoles are not where the cloud is: whoever has a ticket must not find the cloud at the address that it names. */
export const CONSOLE_ADDRESS = '127.0.0.2'

export interface CloudPlan {
  readonly dir: string
  readonly ports: {
    readonly postgres: number
    /** The first of a row. */
    readonly temporal: number
    readonly balancer: number
  }
  readonly url: string
  readonly cells: readonly CellPlan[]
  readonly images: string
  /** Where consoles are, behind a balancer of their own; absent where none were asked for. */
  readonly console?: {
    readonly url: string
    readonly port: number
    readonly all: readonly ConsolePlan[]
  }
  readonly workflows: readonly WorkflowPlan[]
  /** Where the cells speak the original API, behind a balancer of its own; absent where it was not asked for. */
  readonly original?: { readonly url: string; readonly port: number }
}

export interface WorkflowPlan {
  readonly name: string
  /** Its configuration, its certificates and its log. */
  readonly dir: string
  readonly config: string
  readonly url: string
  readonly address: string
  readonly port: number
  /** Its own, in the lab's PostgreSQL. */
  readonly database: string
  /** Of the process that runs its workflows. */
  readonly worker: string
  /** Of the process through which its workflows call other people's servers. */
  readonly egress: string
}

/** What is asked of a cloud when its plan is settled. */
export interface CloudSize {
  readonly cells: number
  readonly consoles: number
  /** Workflow servers, each on an address of its own; the first is at 127.0.0.1. */
  readonly workflows?: number
  /** Whether its cells also speak the original API. */
  readonly original?: boolean
}

/** The port that clients of workflow servers know. */
const WORKFLOW_PORT = 8281
const WORKFLOW_ADDRESSES = ['127.0.0.1', '127.0.0.3'] as const

/** Directories in a lab that hold its cloud. */
export const CLOUD_DIRECTORIES =
  /^(cloud|images|postgres|temporal|balancer|original-balancer|window|cell-\d+|console-\d+|console-balancer|(workflow|worker|egress)-\d+)$/

/** The plan of a lab's cloud as it was settled, or undefined where there is none. */
export async function readPlan(lab: string): Promise<CloudPlan | undefined> {
  const file = planFile(lab)
  if (!existsSync(file)) return undefined
  const kept = JSON.parse(await readFile(file, 'utf8')) as CloudSize & { readonly first: number }
  return planOf(lab, kept.first, kept)
}

/** Settles where a cloud of this size will be; what was settled before stays. */
export async function settlePlan(lab: string, size: CloudSize): Promise<CloudPlan> {
  const { cells, consoles, workflows = 0, original = false } = size
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
  await writeFile(planFile(lab), JSON.stringify({ first, cells, consoles, workflows, original }))
  return planOf(lab, first, size)
}

/** One row of ports, so that no two servers are given the same. */
function planOf(
  lab: string,
  first: number,
  { cells: count, consoles, workflows = 0, original = false }: CloudSize,
): CloudPlan {
  const ports = {
    temporal: first,
    postgres: first + temporalPorts,
    balancer: first + temporalPorts + 1,
  }
  // Behind those of the cells and of the consoles.
  const second = ports.balancer + 2 + 2 * count + consoles
  const cells = Array.from({ length: count }, (_, at): CellPlan => {
    const name = `cell-${at + 1}`
    const dir = join(lab, name)
    const port = ports.balancer + 1 + at
    return {
      ...{ name, dir, config: join(dir, 'cloud.json'), url: `https://127.0.0.1:${port}`, port },
      machines: { address: MACHINES, port: port + count },
      ...(original && { original: second + 1 + at }),
    }
  })
  const url = `https://127.0.0.1:${ports.balancer}`
  const plan = {
    ...{ dir: join(lab, 'cloud'), ports, url, cells, images: join(lab, 'images') },
    workflows: workflowsOf(lab, workflows),
    ...(original && { original: { url: `https://127.0.0.1:${second}`, port: second } }),
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

const workflowsOf = (lab: string, count: number): WorkflowPlan[] =>
  WORKFLOW_ADDRESSES.slice(0, count).map((address, at) => {
    const name = `workflow-${at + 1}`
    const dir = join(lab, name)
    return {
      ...{ name, dir, config: join(dir, 'workflow.json'), address, port: WORKFLOW_PORT },
      url: `https://${address}:${WORKFLOW_PORT}`,
      ...{ database: `workflow_${at + 1}`, worker: join(lab, `worker-${at + 1}`) },
      egress: join(lab, `egress-${at + 1}`),
    }
  })

const planFile = (lab: string): string => join(lab, 'cloud', 'plan.json')
